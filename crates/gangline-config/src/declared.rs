//! Sections of `agents.yaml`, each key declared once: [`section!`] makes of one list the type, the
//! keys that are known, the defaults, the reader and what the schema says of them.
//!
//! A key that depends on another, or on more than its own value, is read after that by a function
//! beside the declaration. docs/config.md is compared with the schema by a test. Begin at the macro.

use std::collections::BTreeSet;

use schemars::Schema;
use serde::Serialize;
use serde_json::Value as Json;

use super::{
    node::Node,
    reader::{Keys, Reader, Section},
};

/// What [`section!`] makes of a declaration.
pub(super) trait Declared: Serialize + Sized {
    /// The keys, as they are declared.
    const KEYS: Keys;
    /// Those that must be there.
    const NEEDED: &'static [&'static str];

    /// Returns the defaults, and stand-ins for what must be there: the rest of a section that lacks
    /// it is read all the same, so that every fault is told.
    fn usual() -> Option<Self>;

    /// Takes every key out of `section` that its declaration has a reader for. One that cannot be
    /// read leaves the default, and its fault is recorded.
    fn take(&mut self, reader: &mut Reader<'_>, section: &mut Section);
}

/// Declares a section:
///
/// ```text
/// section! {
///     /// What it is: for the API's documentation and the schema.
///     pub struct Sasl(password_env: String = String::new()) |reader, key, node| {
///         /// What the key means.
///         pub account: Option<String> = None => reader.text(key, &node).map(Some),
///         /// What must be there is named at the top, with a stand-in, and is its own default.
///         pub password_env: String = password_env => variable(reader, key, &node),
///     }
///     ignored: ["keys", "of", "other", "programs"]
/// }
/// ```
///
/// Behind `=` stands the default, behind `=>` how a value becomes the field's: an expression over
/// the three names of the head, `None` when a fault was recorded. `null` counts as absent. Without
/// `=>` a function beside the declaration reads the key. A block `beside { … }` holds fields that
/// are not in the file.
macro_rules! section {
    (@default $name:ident) => {
        impl Default for $name {
            fn default() -> Self {
                Self::with_defaults()
            }
        }
    };
    (@default $name:ident $($needed:ident)+) => {};
    (
        $(#[$meta:meta])*
        pub struct $name:ident($($needed:ident: $of:ty = $stand_in:expr),*)
            |$reader:ident, $key:ident, $node:ident| {
            $($(#[$about:meta])* pub $field:ident: $type:ty = $usual:expr $(=> $read:expr)?,)*
        }
        $(beside { $($(#[$more:meta])* pub $other:ident: $other_type:ty = $empty:expr,)* })?
        $(ignored: [$($ignored:literal),* $(,)?])?
    ) => {
        #[derive(Debug, Clone, PartialEq, ::serde::Serialize, ::schemars::JsonSchema)]
        #[schemars(transform = $crate::declared::defaults::<$name>)]
        $(#[$meta])*
        pub struct $name {
            $($(#[$about])* pub $field: $type,)*
            $($($(#[$more])* pub $other: $other_type,)*)?
        }

        impl $name {
            pub(crate) fn with_defaults($($needed: $of),*) -> Self {
                Self { $($field: $usual,)* $($($other: $empty,)*)? }
            }
        }

        impl $crate::declared::Declared for $name {
            const KEYS: $crate::reader::Keys = $crate::reader::Keys {
                known: &[$(stringify!($field)),*],
                ignored: &[$($($ignored),*)?],
            };
            const NEEDED: &'static [&'static str] = &[$(stringify!($needed)),*];

            fn usual() -> Option<Self> {
                Some(Self::with_defaults($($stand_in),*))
            }

            #[allow(unused_variables, reason = "not every reader needs the key's name")]
            fn take(
                &mut self,
                $reader: &mut $crate::reader::Reader<'_>,
                section: &mut $crate::reader::Section,
            ) {
                $($(if let Some($node) = section.take(stringify!($field)) {
                    let $key = stringify!($field);
                    $crate::value::set(&mut self.$field, $read);
                })?)*
            }
        }

        $crate::declared::section!(@default $name $($needed)*);
    };
}
pub(crate) use section;

/// Reads a section that needs nothing else.
pub(super) fn plain<T: Declared>(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<T> {
    let section = reader.section(key, node)?;
    read(reader, key, section)
}

/// Reads all that is declared, and records a fault for every other key. `name` is how messages call
/// the section.
pub(super) fn read<T: Declared>(
    reader: &mut Reader<'_>,
    name: &str,
    mut section: Section,
) -> Option<T> {
    let mut read = T::usual()?;
    read.take(reader, &mut section);
    reader.nothing_else(name, section, &T::KEYS);
    Some(read)
}

/// Writes into a section's schema what is the case without its keys, and which must be there.
pub(super) fn defaults<T: Declared>(schema: &mut Schema) {
    let needed: BTreeSet<&str> = T::NEEDED.iter().copied().collect();
    match needed.is_empty() {
        true => schema.remove("required"),
        false => schema.insert("required".to_owned(), T::NEEDED.into()),
    };
    let usual = T::usual().and_then(|usual| serde_json::to_value(usual).ok());
    let (Some(Json::Object(usual)), Some(Json::Object(properties))) =
        (usual, schema.get_mut("properties"))
    else {
        return;
    };
    for (key, value) in usual.into_iter().filter(|(key, _)| !needed.contains(key.as_str())) {
        if let Some(Json::Object(property)) = properties.get_mut(&key) {
            property.insert("default".to_owned(), value);
        }
    }
}
