//! Licence expressions as crates write them: `A OR B`, `A AND (B OR C)`, `A WITH x`, and the old
//! `A/B`. Start at [`allowed`].

/// Whether the expression can be met with the licences of the list: of `OR` one side, of `AND`
/// both. `WITH` belongs to the name. Fails on what is no such expression.
pub(super) fn allowed(expression: &str, list: &[&str]) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, list };
    let met = reader.any()?;
    match reader.words.first() {
        None => Ok(met),
        Some(word) => Err(format!("unexpected {word}")),
    }
}

struct Reader<'a> {
    words: &'a [&'a str],
    list: &'a [&'a str],
}

impl Reader<'_> {
    fn any(&mut self) -> Result<bool, String> {
        let mut met = self.all()?;
        while self.take("OR") {
            met |= self.all()?;
        }
        Ok(met)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Ok(met)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let met = self.any()?;
            return if self.take(")") { Ok(met) } else { Err("a ) is missing".to_owned()) };
        }
        let Some((name, rest)) = self.words.split_first() else {
            return Err("a licence is missing".to_owned());
        };
        if ["OR", "AND", "WITH", ")"].contains(name) {
            return Err(format!("unexpected {name}"));
        }
        self.words = rest;
        if !self.take("WITH") {
            return Ok(self.list.contains(name));
        }
        let Some((exception, rest)) = self.words.split_first() else {
            return Err("an exception is missing".to_owned());
        };
        self.words = rest;
        Ok(self.list.contains(&format!("{name} WITH {exception}").as_str()))
    }

    fn take(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}
