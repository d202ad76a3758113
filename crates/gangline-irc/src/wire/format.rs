//! Writing: [`Message`] → one line, or an error, never two lines.

use super::{
    BODY_MAX, CLIENT_TAGS_MAX, FormatError, Message, PARAMS_MAX, SERVER_TAGS_MAX, Side, tags,
};

impl Message {
    /// Writes the line: exactly one CR LF, at the end. Lengths are not limited here: see
    /// [`Message::check_lengths`].
    ///
    /// # Errors
    /// See [`FormatError`]: what cannot stand on one line is refused, never cut or mended
    /// ([`super::text::sanitize`] mends).
    pub fn to_line(&self) -> Result<String, FormatError> {
        let mut line = self.tag_section()?;
        self.write_body(&mut line)?;
        Ok(line)
    }

    /// Returns the length of the line without tags, CR LF included: what [`BODY_MAX`] limits.
    #[must_use]
    pub fn body_len(&self) -> usize {
        let source = self.source.as_ref().map_or(0, |source| source.len() + 2);
        let params: usize = self.params.iter().map(|param| param.len() + 1).sum();
        let colon = usize::from(self.last_has_colon());
        source + self.command.len() + params + colon + 2
    }

    /// Checks both limits of the protocol for a line that this side writes.
    ///
    /// # Errors
    /// [`FormatError::BodyTooLong`] and [`FormatError::TagsTooLong`], and what
    /// [`Message::to_line`] says of tags.
    pub fn check_lengths(&self, side: Side) -> Result<(), FormatError> {
        let bytes = self.body_len();
        if bytes > BODY_MAX {
            return Err(FormatError::BodyTooLong { bytes });
        }
        let section = self.tag_section()?.len();
        let (bytes, max) = match side {
            Side::Client => (section.saturating_sub(2), CLIENT_TAGS_MAX),
            Side::Server => (section, SERVER_TAGS_MAX),
        };
        if bytes > max { Err(FormatError::TagsTooLong { bytes, max }) } else { Ok(()) }
    }

    fn tag_section(&self) -> Result<String, FormatError> {
        let mut section = String::new();
        for (index, (key, value)) in self.tags.iter().enumerate() {
            section.push(if index == 0 { '@' } else { ';' });
            tags::write(&mut section, key, value.as_deref())
                .map_err(|tags::Unwritable| FormatError::Tag { index })?;
        }
        if !section.is_empty() {
            section.push(' ');
        }
        Ok(section)
    }

    fn write_body(&self, line: &mut String) -> Result<(), FormatError> {
        if let Some(source) = &self.source {
            if source.is_empty() || source.contains([' ', '\r', '\n', '\0']) {
                return Err(FormatError::Source);
            }
            line.push(':');
            line.push_str(source);
            line.push(' ');
        }
        if self.command.is_empty() || !self.command.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(FormatError::Command);
        }
        line.push_str(&self.command);
        if self.params.len() > PARAMS_MAX {
            return Err(FormatError::TooManyParams { count: self.params.len() });
        }
        for (index, param) in self.params.iter().enumerate() {
            let last = index + 1 == self.params.len();
            let bare = is_bare(param);
            if param.contains(['\r', '\n', '\0']) || (!last && !bare) {
                return Err(FormatError::Param { index });
            }
            line.push(' ');
            if last && self.last_has_colon() {
                line.push(':');
            }
            line.push_str(param);
        }
        line.push_str("\r\n");
        Ok(())
    }

    /// Some clients look for ` :` before a text, so texts have it even when one word would do.
    fn last_has_colon(&self) -> bool {
        let Some(last) = self.params.last() else { return false };
        let texts = matches!(
            self.command.as_str(),
            "PRIVMSG" | "NOTICE" | "TOPIC" | "KICK" | "PART" | "USER" | "353" | "332" | "319"
        );
        !is_bare(last)
            || (texts && self.params.len() >= 2)
            || (self.command == "CAP" && self.params.len() >= 3)
            || matches!(self.command.as_str(), "QUIT" | "ERROR")
    }
}

/// Whether a parameter needs no colon and may stand before others.
fn is_bare(param: &str) -> bool {
    !param.is_empty() && !param.starts_with(':') && !param.contains(' ')
}
