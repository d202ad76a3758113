use proptest::prelude::*;

use super::*;

mod bounds;
