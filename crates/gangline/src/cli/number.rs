//! Whole numbers as arguments: what is typed wrong is told in words.

/// Returns what reads a whole number between these two.
pub(crate) fn within<T: TryFrom<u64>>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match most {
            ANY => format!("give a whole number, {least} or more"),
            most => format!("give a whole number from {least} to {most}"),
        })
    }
}

/// No bound that a person would be told.
pub(crate) const ANY: u64 = u32::MAX as u64;

#[cfg(test)]
mod tests;
