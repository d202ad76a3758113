//! The tools on real files and real commands.

use std::fs;
use std::path::Path;

use gangline_harness::tools::{self, TodoStatus, TodoWrite};
use gangline_harness::{Tool, ToolContext};
use gangline_os::CancellationToken;
use gangline_os::process::base_env;
use serde_json::{Value, json};

struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    async fn run(&self, name: &str, input: Value) -> Result<String, String> {
        let tools = tools::standard(base_env());
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap();
        let cancel = CancellationToken::new();
        let ctx =
            ToolContext { cwd: self.path().to_owned(), judged: None, closed: Vec::new(), cancel };
        let result = crate::fake::within(tool.execute(&ctx, input)).await;
        let here = self.path().display().to_string();
        let plain = |text: String| text.replace(&here, "~");
        result.map(plain).map_err(|error| plain(error.to_string()))
    }

    async fn ok(&self, name: &str, input: Value) -> String {
        self.run(name, input).await.unwrap()
    }

    async fn err(&self, name: &str, input: Value) -> String {
        self.run(name, input).await.unwrap_err()
    }
}

/// R4-04, R4-15: each tool has a name, a description and a schema of an object.
#[test]
fn every_tool_declares_itself() {
    for tool in tools::standard(vec![]) {
        let schema = tool.input_schema();
        assert_eq!(schema["type"], "object", "{}", tool.name());
        for field in schema["required"].as_array().unwrap() {
            let name = field.as_str().unwrap();
            assert!(schema["properties"][name].is_object(), "{} {name}", tool.name());
        }
        assert!(tool.description().len() > 20);
    }
}

/// Each required field that is missing, and each field of a wrong type, is named.
#[tokio::test]
async fn input_that_does_not_fit_names_the_field() {
    let room = Room::new();
    for tool in tools::standard(base_env()) {
        let schema = tool.input_schema();
        let required = schema["required"].as_array().unwrap();
        for field in required {
            let name = field.as_str().unwrap();
            let mut input = json!({});
            for other in required.iter().filter(|other| *other != field) {
                input[other.as_str().unwrap()] = json!("x");
            }
            let error = room.err(tool.name(), input.clone()).await;
            assert_eq!(error, format!("invalid input: `{name}` is missing"), "{}", tool.name());
            input[name] = json!({"no": "thing"});
            let error = room.err(tool.name(), input).await;
            let expected = format!("invalid input: `{name}` does not fit: ");
            assert!(error.starts_with(&expected), "{}: {error}", tool.name());
        }
        assert!(room.err(tool.name(), json!([1])).await.contains("not an object"));
    }
}

#[tokio::test]
async fn read_numbers_lines_and_takes_a_part() {
    let room = Room::new();
    room.file("a.txt", "one\r\ntwo\nthree");
    let all = room.ok("Read", json!({"file_path": "a.txt"})).await;
    assert_eq!(all, "     1\tone\n     2\ttwo\n     3\tthree\n");
    let part = json!({"file_path": "a.txt", "offset": 2, "limit": 1});
    assert_eq!(
        room.ok("Read", part).await,
        "     2\ttwo\n[more lines follow; go on with offset 3]"
    );
    let beyond = room.err("Read", json!({"file_path": "a.txt", "offset": 9})).await;
    assert_eq!(beyond, "invalid input: `offset` is beyond the last line, 3");
    room.file("empty", "");
    assert_eq!(room.ok("Read", json!({"file_path": "empty"})).await, "[the file is empty]");
}

#[tokio::test]
async fn read_is_bounded_in_line_and_size() {
    let room = Room::new();
    room.file("long", format!("{}\nshort\n", "x".repeat(3_000_000)));
    let text = room.ok("Read", json!({"file_path": "long"})).await;
    assert!(text.len() < 3000 && text.ends_with("[… 3000000 bytes in this line]\n     2\tshort\n"));
    room.file("many", "0123456789abcdef\n".repeat(100_000));
    let text = room.ok("Read", json!({"file_path": "many", "limit": 100_000})).await;
    assert!(text.len() < 201_000, "{}", text.len());
    let (_, next) = text.rsplit_once("go on with offset ").unwrap();
    let next: usize = next.trim_end_matches(']').parse().unwrap();
    assert!(text.contains(&format!("{}\t", next - 1)) && !text.contains(&format!("{next}\t")));
}

#[tokio::test]
async fn read_refuses_what_is_no_text_file() {
    let room = Room::new();
    room.file("bin", b"ELF\0\x01");
    let binary = room.err("Read", json!({"file_path": "bin"})).await;
    assert_eq!(binary, "invalid input: `file_path` is a binary file");
    let folder = room.err("Read", json!({"file_path": "."})).await;
    assert!(folder.contains("`file_path` is a folder"), "{folder}");
    let device = room.err("Read", json!({"file_path": "/dev/zero"})).await;
    assert!(device.contains("not a regular file"), "{device}");
    let missing = room.err("Read", json!({"file_path": "no"})).await;
    assert!(missing.starts_with("cannot read ~/no: No such file"), "{missing}");
}

#[tokio::test]
async fn write_makes_folders_replaces_and_keeps_mode_and_links() {
    use std::os::unix::fs::PermissionsExt as _;
    let room = Room::new();
    let write = |name: &str, text: &str| json!({"file_path": name, "content": text});
    assert_eq!(room.ok("Write", write("a/b/c.sh", "1")).await, "wrote 1 bytes to ~/a/b/c.sh");
    let file = room.path().join("a/b/c.sh");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    std::os::unix::fs::symlink(&file, room.path().join("link")).unwrap();
    room.ok("Write", write("link", "2")).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "2");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o750);
    assert!(fs::symlink_metadata(room.path().join("link")).unwrap().is_symlink());
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing is left over");
    assert!(room.err("Write", write("a", "x")).await.contains("is a folder"));
}

#[tokio::test]
async fn edit_replaces_what_is_unique_or_all() {
    let room = Room::new();
    let edit = |old: &str, new: &str, all: Option<bool>| json!({"file_path": "f", "old_string": old, "new_string": new, "replace_all": all});
    room.file("f", "a b a\n");
    assert_eq!(room.ok("Edit", edit("b", "c", None)).await, "replaced 1 in ~/f");
    let twice = room.err("Edit", edit("a", "x", None)).await;
    assert!(twice.starts_with("invalid input: `old_string` occurs 2 times"), "{twice}");
    assert_eq!(room.ok("Edit", edit("a", "x", Some(true))).await, "replaced 2 in ~/f");
    assert_eq!(fs::read_to_string(room.path().join("f")).unwrap(), "x c x\n");
    let missing = room.err("Edit", edit("zz", "x", None)).await;
    assert_eq!(missing, "invalid input: `old_string` does not occur in the file");
    assert!(room.err("Edit", edit("", "x", None)).await.contains("`old_string` is empty"));
    assert!(room.err("Edit", edit("x", "x", None)).await.contains("`new_string` is the same"));
    room.file("f", b"\xff\xfe");
    assert!(room.err("Edit", edit("x", "y", None)).await.contains("cannot read as text"));
}

#[tokio::test]
async fn bash_gives_output_code_and_signal() {
    let room = Room::new();
    let bash = |command: &str| json!({"command": command});
    assert_eq!(room.ok("Bash", bash("echo out; echo err >&2")).await.len(), 8);
    assert_eq!(room.ok("Bash", bash("true")).await, "[no output]");
    assert_eq!(room.ok("Bash", bash("pwd -P | wc -l; cat")).await.trim(), "1");
    assert_eq!(room.err("Bash", bash("echo no; exit 3")).await, "exit code 3\nno\n");
    assert_eq!(room.err("Bash", bash("kill -9 $$")).await, "killed by signal 9\n");
    // The output's end is not the command's.
    let late = bash("exec >&- 2>&-; sleep 0.05; touch late");
    assert_eq!(room.ok("Bash", late).await, "[no output]");
    assert!(room.path().join("late").exists());
    let long = json!({"command": "true", "timeout": 600_001});
    assert!(room.err("Bash", long).await.contains("`timeout` must be 1 to 600000"));
    assert!(room.err("Bash", bash("a\0b")).await.contains("`command` has a NUL"));
}

/// What is closed is met by no search, through a link neither; a search within it was for somebody
/// else to refuse.
#[tokio::test]
async fn a_search_leaves_out_what_is_closed() {
    let room = Room::new();
    room.file("src/a.rs", "needle");
    room.file("state/owner.token", "needle");
    room.file("state/notes/n.md", "needle");
    let real = fs::canonicalize(room.path()).unwrap();
    std::os::unix::fs::symlink(&real, room.path().join("again")).unwrap();
    let tools = tools::standard(base_env());
    for base in [room.path().to_owned(), room.path().join("again")] {
        for (name, field) in [("Grep", "needle"), ("Glob", "**/*")] {
            let tool = tools.iter().find(|tool| tool.name() == name).unwrap();
            let (closed, cancel) = (vec![real.join("state")], CancellationToken::new());
            let ctx = ToolContext { cwd: base.clone(), judged: None, closed, cancel };
            let found = tool.execute(&ctx, json!({"pattern": field})).await.unwrap();
            assert!(found.contains("a.rs") && !found.contains("state"), "{name}: {found}");
            let input = json!({"pattern": field, "path": "state/notes"});
            assert!(tool.execute(&ctx, input).await.unwrap().contains("n.md"), "{name}");
        }
    }
}

#[tokio::test]
async fn bash_has_only_the_environment_that_it_was_given() {
    let room = Room::new();
    let bash = tools::Bash::new(vec![("ONLY".into(), "this".into())]);
    let ctx = ToolContext {
        cwd: room.path().to_owned(),
        judged: None,
        closed: Vec::new(),
        cancel: CancellationToken::new(),
    };
    let input = json!({"command": "echo $ONLY-$HOME-$CARGO_MANIFEST_DIR"});
    assert_eq!(bash.execute(&ctx, input).await.unwrap(), "this--\n");
}

#[tokio::test]
async fn bash_keeps_head_and_tail_of_a_long_output() {
    let room = Room::new();
    let command = "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo last";
    let text = room.ok("Bash", json!({"command": command})).await;
    assert!(text.starts_with("first\nx") && text.ends_with("xlast\n"));
    assert!(text.contains("[… 4970011 bytes left out …]"), "{}", text.len());
    assert!(text.len() < 30_100);
}

/// What a command leaves in the background ends with the call, and cannot hold it up.
#[tokio::test]
async fn bash_ends_with_its_command() {
    let room = Room::new();
    let pid = room.ok("Bash", json!({"command": "sleep 300 & echo $!"})).await;
    assert!(!crate::cancel::alive(pid.trim()));
    // A process in a session of its own escapes, but holds up nothing.
    let escapes = "setsid sh -c 'touch begun; exec sleep 600' & until [ -e begun ]; do sleep 0.01; done; \
                   echo $!";
    let pid = room.ok("Bash", json!({"command": escapes})).await;
    assert!(crate::cancel::alive(pid.trim()), "it did not escape");
    crate::mcp::kill(pid.trim());
}

#[tokio::test]
async fn glob_finds_by_path_and_leaves_out_what_is_ignored() {
    let room = Room::new();
    for name in ["src/a.rs", "src/deep/b.rs", "src/c.txt", ".git/d.rs", "target/e.rs", ".f.rs"] {
        room.file(name, "x");
    }
    room.file(".gitignore", "target/\n");
    let glob = |pattern: &str| json!({"pattern": pattern});
    let rust = room.ok("Glob", glob("**/*.rs")).await;
    assert_eq!(rust, "~/.f.rs\n~/src/a.rs\n~/src/deep/b.rs");
    assert_eq!(room.ok("Glob", glob("src/*.rs")).await, "~/src/a.rs");
    assert_eq!(room.ok("Glob", glob("*.md")).await, "[no file matches]");
    assert!(room.err("Glob", glob("a{")).await.contains("`pattern` is no pattern"));
    let nowhere = room.err("Glob", json!({"pattern": "*", "path": "no"})).await;
    assert!(nowhere.contains("`path` does not exist"), "{nowhere}");
    for number in 0..1005 {
        room.file(&format!("many/{number}"), "");
    }
    assert!(room.ok("Glob", glob("many/*")).await.ends_with("[5 more]"));
}

#[tokio::test]
async fn grep_shows_files_lines_or_counts() {
    let room = Room::new();
    room.file("a.rs", "fn one() {}\n// two\nfn three() {}\n");
    room.file("b.txt", "FN four\n");
    room.file("c.bin", b"\0fn five");
    let grep = |input: Value| async { room.ok("Grep", input).await };
    assert_eq!(grep(json!({"pattern": r"^fn \w+"})).await, "~/a.rs");
    assert_eq!(
        grep(json!({"pattern": "fn", "output_mode": "content", "case_insensitive": true})).await,
        "~/a.rs:1:fn one() {}\n~/a.rs:3:fn three() {}\n~/b.txt:1:FN four"
    );
    assert_eq!(
        grep(json!({"pattern": "two", "output_mode": "content", "context": 1})).await,
        "~/a.rs-1-fn one() {}\n~/a.rs:2:// two\n~/a.rs-3-fn three() {}"
    );
    assert_eq!(grep(json!({"pattern": "fn", "output_mode": "count"})).await, "~/a.rs:2");
    let only = json!({"pattern": "(?i)fn", "glob": "*.txt"});
    assert_eq!(grep(only).await, "~/b.txt");
    let one = json!({"pattern": "fn", "output_mode": "content", "path": "a.rs", "head_limit": 1});
    assert!(grep(one).await.starts_with("~/a.rs:1:fn one() {}\n[more follows"));
    assert_eq!(grep(json!({"pattern": "nine"})).await, "[nothing matches]");
    let broken = room.err("Grep", json!({"pattern": "("})).await;
    assert!(broken.starts_with("invalid input: `pattern` cannot be used"), "{broken}");
    let mode = room.err("Grep", json!({"pattern": "x", "output_mode": "poem"})).await;
    assert!(mode.starts_with("invalid input: `output_mode` does not fit"), "{mode}");
}

#[tokio::test]
async fn todo_keeps_the_newest_list() {
    let todo = TodoWrite::default();
    let ctx = ToolContext {
        cwd: ".".into(),
        judged: None,
        closed: Vec::new(),
        cancel: CancellationToken::new(),
    };
    let input = json!({"todos": [
        {"content": "look", "status": "completed", "activeForm": "looking"},
        {"content": "leap", "status": "in_progress"},
    ]});
    assert_eq!(todo.execute(&ctx, input).await.unwrap(), "[x] look\n[>] leap\n");
    assert_eq!(todo.list()[1].status, TodoStatus::InProgress);
    let blank = json!({"todos": [{"content": " ", "status": "pending"}]});
    assert!(todo.execute(&ctx, blank).await.is_err());
    assert_eq!(todo.list().len(), 2, "a refused list changes nothing");
}
