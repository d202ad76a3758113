//! What is an import and what only looks like one.

use super::*;

#[test]
fn words_that_begin_with_an_at_sign_are_imports_unless_they_are_code() {
    let text = "See @AGENTS.md, and @docs/style.md.\n\
        - @~/mine.md\n\
        mail a@b.c or `@not/this` but @this\n\
        ```\n@nor/this\n~~~\n@nor/that\n```\n\
        @ alone, @. too\n\
        ~~~\n@no\n~~~\n@/absolute";
    assert_eq!(of(text), ["AGENTS.md", "docs/style.md", "~/mine.md", "this", "/absolute"]);
}
