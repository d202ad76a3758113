//! SDKs that come by pip, each in an exact version, in one environment below the target folder. Their
//! tests look for it in `gangline_testkit::programs`. Start at [`install_all`].

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::shell::{self, Output};

/// Packages as pip writes them.
const LIBRARIES: &[&str] =
    &["mcp==2.3.0", "anthropic==2.12.0", "openai==2.54.0", "google-genai==3.4.0"];
/// What makes an environment, on Debian.
const VENV: &str = "python3-venv";

/// Installs the libraries that are not there in their version.
pub(super) fn install_all(output: &Output) -> Result<()> {
    let folder = Metadata::load()?.target_directory.join("programs/python");
    if are_there(&folder) {
        output.say("the SDKs for Python are there");
        return Ok(());
    }
    output.say(&format!(
        "installing {} into {}: the tests drive our servers by them (about 160 MB)",
        LIBRARIES.join(", "),
        folder.display()
    ));
    let venv = ["-c", "import ensurepip, venv"];
    let can_make = || shell::read(shell::command("python3").args(venv)).is_ok();
    if !can_make() && shell::find_program("apt-get").is_some() {
        super::apt(output, &["update", "--quiet"])?;
        super::apt(output, &["install", "--quiet", "--yes", "--no-install-recommends", VENV])?;
    }
    output
        .run(shell::command("python3").args(["-m", "venv", "--clear"]).arg(&folder))
        .with_context(|| format!("cannot make a Python environment; is {VENV} there?"))?;
    let mut pip = shell::command(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(LIBRARIES);
    output.run(&mut pip).with_context(|| format!("cannot install {}", LIBRARIES.join(", ")))?;
    if !are_there(&folder) {
        bail!("the SDKs for Python are installed, but not all in their version");
    }
    Ok(())
}

fn are_there(folder: &Path) -> bool {
    let python = folder.join("bin/python");
    let mut list = shell::command(&python);
    list.args(["-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"]);
    let has_all = |said: String| LIBRARIES.iter().all(|it| said.lines().any(|line| line == *it));
    python.exists() && shell::read(&mut list).is_ok_and(has_all)
}
