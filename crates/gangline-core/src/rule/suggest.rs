//! Rules worth making: what people allowed again and again, never refused, and is not dangerous. Pure.

use std::path::{Component, Path};

use super::{Form, OPERATORS, Offer, Rule, Subject, replay::Was};

/// What may be suggested: builders, tests, linters, and commands that only read. A program with words
/// behind it may be suggested with one of these first. The list is for suggestions alone; with `always`
/// a person may make a rule of anything that they see.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "cargo",
        &["build", "check", "test", "clippy", "fmt", "doc", "tree", "metadata", "bench", "nextest"],
    ),
    ("npm", &["test", "t", "run", "ls", "outdated"]),
    ("pnpm", &["test", "t", "run", "ls", "outdated"]),
    ("yarn", &["test", "run", "list", "outdated"]),
    ("bun", &["test"]),
    ("go", &["build", "test", "vet", "fmt", "list", "version"]),
    ("make", MAKE),
    ("gmake", MAKE),
    ("just", &["test", "check", "lint", "build"]),
    ("mvn", &["test", "compile", "verify"]),
    ("gradle", &["test", "build", "check"]),
    ("dotnet", &["build", "test"]),
    ("swift", &["build", "test"]),
    ("mix", &["test", "compile"]),
    ("ruff", &["check", "format"]),
    ("golangci-lint", &["run"]),
    ("git", GIT),
    ("pytest", ANY),
    ("mypy", ANY),
    ("black", ANY),
    ("isort", ANY),
    ("flake8", ANY),
    ("pylint", ANY),
    ("eslint", ANY),
    ("prettier", ANY),
    ("stylelint", ANY),
    ("tsc", ANY),
    ("jest", ANY),
    ("vitest", ANY),
    ("mocha", ANY),
    ("rspec", ANY),
    ("rubocop", ANY),
    ("phpunit", ANY),
    ("rustfmt", ANY),
    ("gofmt", ANY),
    ("shellcheck", ANY),
    ("hadolint", ANY),
    ("yamllint", ANY),
    ("markdownlint", ANY),
    ("ctest", ANY),
    ("ls", ANY),
    ("cat", ANY),
    ("head", ANY),
    ("tail", ANY),
    ("wc", ANY),
    ("grep", ANY),
    ("rg", ANY),
    ("cut", ANY),
    ("tr", ANY),
    ("nl", ANY),
    ("jq", ANY),
    ("pwd", ANY),
    ("echo", ANY),
    ("true", ANY),
    ("date", ANY),
    ("uname", ANY),
    ("whoami", ANY),
    ("which", ANY),
    ("tree", ANY),
    ("du", ANY),
    ("df", ANY),
    ("file", ANY),
    ("stat", ANY),
    ("diff", ANY),
    ("cmp", ANY),
    ("basename", ANY),
    ("dirname", ANY),
    ("sha256sum", ANY),
];
/// The program does nothing but read or check, whatever its words are.
const ANY: &[&str] = &[];
const MAKE: &[&str] =
    &["all", "build", "test", "tests", "check", "lint", "fmt", "format", "typecheck"];
const GIT: &[&str] =
    &["status", "diff", "log", "show", "blame", "ls-files", "rev-parse", "describe", "shortlog"];
/// What `npm run` may be told: the usual names of scripts that build and test.
const SCRIPTS: &[&str] =
    &["test", "tests", "lint", "build", "typecheck", "type-check", "check", "format", "fmt"];
/// Options that change or write something, run something, or send something; a value may follow.
const NEVER_OPTIONS: &[&str] = &[
    "-f",
    "-o",
    "-w",
    "-i",
    "-x",
    "--force",
    "--delete",
    "--no-verify",
    "--output",
    "--write",
    "--in-place",
    "--fix",
    "--unsafe",
    "--exec",
    "--pre",
    "--hostname-bin",
    "--config",
    "--plugin",
    "--ext-diff",
    "--textconv",
    "--toolexec",
    "--rulesdir",
    "--resolve-plugins",
    "--set",
    "--publish",
    "--open",
    "--watch-filesystem",
    "--script-shell",
    "--file",
    "--manifest-path",
    "--rcfile",
    "--require",
    "-toolexec",
    "-exec",
    "--compress-program",
    "--registry",
    "--fix-type",
    "--debugger",
    "--pdb",
    "--settings",
];
/// Options of one program by which it runs, loads, deletes or installs something.
const NEVER_OF: &[(&str, &[&str])] = &[
    ("cargo", &["-Z", "--out-dir", "--artifact-dir"]),
    ("mvn", &["-D", "-P", "-s", "-gs", "-t"]),
    ("gradle", &["-D", "-P", "-b", "-c", "-p", "-I", "--project-dir", "--init-script"]),
    ("dotnet", &["-t", "-p:", "--target"]),
    ("mypy", &["--install-types", "--python-executable"]),
    ("pylint", &["--init-hook", "--load-plugins"]),
    ("pytest", &["-p", "-c", "--basetemp"]),
    ("eslint", &["-c", "--format", "--parser"]),
    ("stylelint", &["--custom-syntax", "--custom-formatter", "--formatter"]),
    (
        "jest",
        &[
            "-c",
            "--globalSetup",
            "--globalTeardown",
            "--testRunner",
            "--runner",
            "--reporters",
            "--transform",
            "--setupFiles",
            "--resolver",
            "--testEnvironment",
        ],
    ),
    ("vitest", &["-c", "--globalSetup", "--reporter", "--environment", "--api", "--ui"]),
    ("mocha", &["-r", "-R", "--import", "--loader", "--reporter"]),
    ("rspec", &["-r", "-I"]),
    ("rubocop", &["-r", "-a", "-A", "--autocorrect", "--auto-correct"]),
    ("phpunit", &["-c", "--bootstrap", "--prepend", "--configuration", "--extension"]),
    ("tsc", &["--clean", "--outDir", "--outFile"]),
    ("ctest", &["-S", "-D", "-M", "-T", "--script", "--build-and-test", "--dashboard"]),
    ("date", &["-s"]),
    ("file", &["-C", "-m", "--compile", "--magic-file"]),
];
/// Of these programs each word that is no option is done.
const TASKS: &[&str] = &["mvn", "gradle"];
/// Kinds of files whose rules may be suggested: text and source.
const KINDS: &[&str] = &[
    "md", "txt", "rst", "adoc", "html", "css", "scss", "svg", "csv", "rs", "py", "js", "jsx", "ts",
    "tsx", "vue", "svelte", "go", "java", "kt", "swift", "c", "h", "cpp", "hpp", "cs", "rb", "php",
    "sql",
];
/// Files of these kinds that say what runs, or what an agent is told.
const NEVER_FILES: &[&str] = &[
    "build.rs",
    "conftest.py",
    "setup.py",
    "noxfile.py",
    "claude.md",
    "agents.md",
    "gemini.md",
    "skill.md",
    "rakefile.rb",
    "gulpfile.js",
    "gruntfile.js",
];

const OUTSIDE: &str = "it names a hidden file, or one outside the agent's folder";
const UNKNOWN: &str = "it is not on the list of commands that may be suggested";

/// Says why a rule for this is not suggested; `None` if it may be. Whoever wants such a rule makes it
/// with `always`, and sees what it allows.
#[must_use]
pub fn danger(directory: &str, form: &Form) -> Option<&'static str> {
    match form {
        Form::Command(words) => command(Path::new(directory), words),
        Form::File(path) => file(Path::new(directory), Path::new(path)),
        Form::Arguments(_) => Some("Gangline does not know what the tool does"),
    }
}

fn command(directory: &Path, words: &[String]) -> Option<&'static str> {
    let words: &[String] = match words {
        [cd, folder, and, rest @ ..] if cd == "cd" && and == "&&" => {
            if leads_out(directory, folder) {
                return Some(OUTSIDE);
            }
            rest
        }
        words => words,
    };
    words.split(|word| word == "|").find_map(|stage| stage_of(directory, stage))
}

/// Looks at one command of a pipeline.
fn stage_of(directory: &Path, words: &[String]) -> Option<&'static str> {
    let operator = |word: &&String| OPERATORS.contains(&word.as_str());
    let words: Vec<&str> = words.iter().filter(|it| !operator(it)).map(String::as_str).collect();
    let Some((program, arguments)) = words.split_first() else { return Some("it is empty") };
    let Some((_, parts)) = HARMLESS.iter().find(|(name, _)| name == program) else {
        return match words[..] {
            ["python3" | "python", "-m", module, ..]
                if ["pytest", "unittest", "mypy", "ruff"].contains(&module) =>
            {
                arguments_of(directory, (module, arguments.get(2..).unwrap_or_default()))
            }
            _ => Some(UNKNOWN),
        };
    };
    let known = match arguments.first() {
        _ if parts.is_empty() => true,
        Some(&"run") if ["npm", "pnpm", "yarn"].contains(program) => {
            arguments.get(1).is_some_and(|script| is_usual(script))
        }
        // The other targets of `make` are other parts.
        Some(_) if ["make", "gmake", "just"].contains(program) => {
            arguments.iter().all(|it| parts.contains(it) || is_jobs(it))
        }
        Some(_) if TASKS.contains(program) => {
            arguments.iter().all(|it| parts.contains(it) || it.starts_with('-'))
        }
        Some(part) => parts.contains(part),
        None => ["make", "gmake"].contains(program),
    };
    if known { arguments_of(directory, (program, arguments)) } else { Some(UNKNOWN) }
}

fn is_jobs(word: &str) -> bool {
    word.strip_prefix("-j").is_some_and(|count| count.chars().all(|c| c.is_ascii_digit()))
}

/// Returns whether a script is one of the usual ones, or a kind of one such as `test:unit`.
fn is_usual(script: &str) -> bool {
    let (name, kind) = script.split_once(':').unwrap_or((script, ""));
    SCRIPTS.contains(&name) && ["", "unit", "e2e", "ci", "all", "check", "types"].contains(&kind)
}

fn arguments_of(
    directory: &Path,
    (program, arguments): (&str, &[&str]),
) -> Option<&'static str> {
    if arguments.iter().any(|word| leads_out(directory, word)) {
        return Some(OUTSIDE);
    }
    let acts = |word: &&str| {
        let name = word.split_once('=').map_or(*word, |(name, _)| name);
        let short = !name.starts_with("--") && name.len() > 2;
        NEVER_OPTIONS.iter().any(|option| name == *option || (option.starts_with("--") && name.len() > 4 && option.starts_with(name)))
            // Letters that were put together, and values without a blank.
            || name.starts_with('-') && short && NEVER_OPTIONS.iter().any(|it| it.len() == 2 && name.starts_with(it))
    };
    let own = NEVER_OF.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, it)| *it);
    let acts_so = |word: &&str| {
        let name = word.split_once('=').map_or(*word, |(name, _)| name);
        own.iter().any(|option| match option.starts_with("--") {
            true => name.starts_with(option) || name.len() > 4 && option.starts_with(name),
            false => name.starts_with(option) && !name.starts_with("--"),
        })
    };
    let acts = |word: &&str| acts(word) || acts_so(word);
    arguments.iter().any(acts).then_some("one of its options changes or runs something")
}

/// Returns whether a word names a file outside the folder, or a hidden one.
fn leads_out(directory: &Path, word: &str) -> bool {
    let path = Path::new(word.split_once('=').map_or(word, |(_, value)| value));
    let inside = path.strip_prefix(directory).unwrap_or(path);
    inside.is_absolute() || inside.components().any(hidden)
}

fn hidden(part: Component<'_>) -> bool {
    part != Component::CurDir && part.as_os_str().to_string_lossy().starts_with('.')
}

fn file(directory: &Path, path: &Path) -> Option<&'static str> {
    let Ok(inside) = path.strip_prefix(directory) else {
        return Some(OUTSIDE);
    };
    if inside.components().any(hidden) {
        return Some(OUTSIDE);
    }
    let lower = |part: &std::ffi::OsStr| part.to_string_lossy().to_lowercase();
    let name = path.file_name().map(lower).unwrap_or_default();
    let kind = path.extension().map(lower).unwrap_or_default();
    let says = NEVER_FILES.contains(&name.as_str()) || name.contains(".config.");
    let plain = KINDS.contains(&kind.as_str()) && !says;
    (!plain).then_some("such a file may say what runs")
}

/// A call that was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a, A> {
    /// Whose it is.
    pub agent: A,
    /// What it asked.
    pub offer: &'a Offer,
    /// What became of it.
    pub was: Was,
}

/// A rule that is worth making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion<'a, A> {
    /// Whose.
    pub agent: A,
    /// The tool.
    pub tool: &'a str,
    /// The folder in which the agent must work.
    pub directory: &'a str,
    /// What would run without asking.
    pub form: &'a Form,
    /// How often a person allowed it.
    pub allowed: usize,
}

/// Returns the rules worth making, the most often allowed first: a person allowed each at least `least`
/// times and refused it never, no rule of `rules` allows it, and it is no [`danger`].
#[must_use]
pub fn suggest<'a, A: Copy + PartialEq>(
    calls: &[Call<'a, A>],
    rules: &[(A, Rule)],
    least: usize,
) -> Vec<Suggestion<'a, A>> {
    let mut all: Vec<(Suggestion<'a, A>, bool)> = Vec::new();
    for call in calls {
        let Subject::Forms(forms) = &call.offer.subject else { continue };
        for form in forms {
            let (tool, directory) = (call.offer.tool.as_str(), call.offer.directory.as_str());
            let same = |(it, _): &(Suggestion<'a, A>, bool)| {
                let place = (it.agent, it.tool, it.directory);
                place == (call.agent, tool, directory) && it.form == form
            };
            let at = match all.iter().position(same) {
                Some(at) => at,
                None => {
                    let new = Suggestion { agent: call.agent, tool, directory, form, allowed: 0 };
                    all.push((new, false));
                    all.len() - 1
                }
            };
            let Some((found, denied)) = all.get_mut(at) else { continue };
            match call.was {
                Was::Allowed => found.allowed += 1,
                Was::Denied => *denied = true,
                Was::Ruled | Was::Undecided => {}
            }
        }
    }
    let known = |it: &Suggestion<'a, A>| {
        rules.iter().any(|(agent, rule)| {
            *agent == it.agent
                && rule.tool == it.tool
                && rule.directory == it.directory
                && rule.form == *it.form
        })
    };
    let mut worth: Vec<_> = all
        .into_iter()
        .filter(|(it, denied)| !denied && it.allowed >= least)
        .map(|(it, _)| it)
        .filter(|it| !known(it) && danger(it.directory, it.form).is_none())
        .collect();
    worth.sort_by_key(|it| std::cmp::Reverse(it.allowed));
    worth
}
