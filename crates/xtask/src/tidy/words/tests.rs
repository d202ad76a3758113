use super::{FOLDERS, TEXTS, check};
use crate::tidy::{repo_of, said};

fn findings(path: &str, text: &str) -> Vec<String> {
    said(&check(&repo_of(&[(path, text)])))
}

#[test]
fn a_folder_of_one_machine_is_found_as_a_whole_word() {
    let folder = FOLDERS[0];
    for line in [format!("cd {folder}"), format!("`{folder}/main`"), format!("x\"{folder}\"")] {
        assert_eq!(
            findings("a.md", &format!("fine\n{line}\n")),
            [format!("a.md:2: fail: {folder} has no place in this repository")],
            "{line}"
        );
    }
    for line in [format!("src{folder}/x"), format!("{folder}shop"), format!("${{x}}{folder}")] {
        assert_eq!(findings("a.md", &line), [""; 0], "{line}");
    }
}

#[test]
fn a_text_is_found_anywhere_but_in_lock_files() {
    for text in TEXTS {
        assert_eq!(findings("crates/a/src/lib.rs", &format!("// see {text}.\n")).len(), 1);
        assert_eq!(findings("Cargo.lock", text), [""; 0]);
    }
}
