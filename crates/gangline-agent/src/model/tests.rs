use std::os::unix::fs::PermissionsExt;

use super::*;

fn paths(folder: &Path) -> Paths {
    Paths {
        state: folder.to_owned(),
        config_file: folder.join("agents.yaml"),
        runtime: folder.to_owned(),
    }
}

/// R2-04: a choice is kept in a file that nobody else reads, until it is taken back.
#[test]
fn a_choice_is_kept_until_it_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agents/x/model");
    assert_eq!(read(&file), None);
    let paths = paths(folder.path());
    let agent: AgentName = "oak-ada".parse().unwrap();
    choose(&paths, &agent, "claude", None).unwrap();
    let haiku: ModelName = "haiku".parse().unwrap();
    choose(&paths, &agent, "claude", Some(&haiku)).unwrap();
    assert_eq!(chosen(&paths, &agent, "claude"), Some(haiku));
    let mode = fs::metadata(super::file(&paths, &agent, "claude")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::write(super::file(&paths, &agent, "claude"), "two words\n").unwrap();
    assert_eq!(chosen(&paths, &agent, "claude"), None);
    choose(&paths, &agent, "claude", None).unwrap();
    assert!(!super::file(&paths, &agent, "claude").exists());
}

/// R2-04: hyperhive's file of the model counts where nobody chose one here.
#[test]
fn a_file_of_the_surroundings_counts_where_nothing_was_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let (own, outside) = (folder.path().join("own"), folder.path().join("hyperhive-model"));
    assert_eq!(current(&own, Some(&outside)), None);
    fs::write(&outside, "sonnet\n").unwrap();
    assert_eq!(current(&own, Some(&outside)).unwrap().to_string(), "sonnet");
    assert_eq!(current(&own, None), None);
    fs::write(&own, "opus\n").unwrap();
    assert_eq!(current(&own, Some(&outside)).unwrap().to_string(), "opus");
}

/// R3-17: no backend is given a model that was chosen for another.
#[test]
fn a_choice_is_one_backend_s_and_an_old_one_the_configured_backend_s() {
    let folder = tempfile::tempdir().unwrap();
    let (paths, agent): (Paths, AgentName) = (paths(folder.path()), "oak-ada".parse().unwrap());
    let model = |name: &str| name.parse::<ModelName>().unwrap();
    adopt(&paths, &agent, "claude");
    choose(&paths, &agent, "native", Some(&model("claude-sonnet-4-6"))).unwrap();
    assert_eq!(chosen(&paths, &agent, "claude"), None);
    fs::write(paths.agent_dir("oak-ada").join("model"), "opus\n").unwrap();
    assert_eq!(chosen(&paths, &agent, "claude"), None, "nobody's");
    adopt(&paths, &agent, "claude");
    adopt(&paths, &agent, "native");
    assert_eq!(chosen(&paths, &agent, "claude"), Some(model("opus")));
    assert_eq!(chosen(&paths, &agent, "native"), Some(model("claude-sonnet-4-6")));
}
