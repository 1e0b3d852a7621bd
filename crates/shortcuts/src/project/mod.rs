//! What "run the tests" means here: the command of the project that a directory belongs to.
//!
//! The directory and those above it are looked at, nearest first, up to the home directory or the
//! root of a repository. What really exists decides: a script of `package.json` before the tool's
//! default, a language's own tool before a Makefile's target of that name.

mod tools;

use std::path::{Path, PathBuf};

use crate::sources::{self, read};

/// What can be asked of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Run its tests.
    Test,
    /// Build it.
    Build,
    /// Start it, so that one can look at it.
    Start,
    /// Format its code.
    Format,
}

impl Task {
    /// Its name in the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Build => "build",
            Self::Start => "start",
            Self::Format => "format",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Test, Self::Build, Self::Start, Self::Format]
            .into_iter()
            .find(|task| task.name() == name)
    }

    /// What scripts and targets for it are called, the most usual first.
    fn scripts(self) -> &'static [&'static str] {
        match self {
            Self::Test => &["test", "tests", "check"],
            Self::Build => &["build", "compile", "all"],
            Self::Start => &["dev", "start", "serve", "develop", "run", "watch"],
            Self::Format => &["format", "fmt", "prettier", "fix"],
        }
    }
}

/// Directories looked at on the way up.
const DEPTH: usize = 16;

/// The command for a task, and the file that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The command, to be run in the directory that was asked about.
    pub line: String,
    /// What it was found by.
    pub by: PathBuf,
}

/// How the project around `cwd` does a task; none when there is no project that can.
pub fn command(task: Task, cwd: &Path, home: &Path) -> Option<Found> {
    for (depth, directory) in cwd.ancestors().take(DEPTH).enumerate() {
        if depth > 0 && directory == home {
            return None;
        }
        let place = Place { directory, depth };
        if let Some(found) = tools::find(&place, task) {
            return Some(found);
        }
        if place.has(".git") {
            return None;
        }
    }
    None
}

/// A directory on the way up.
struct Place<'a> {
    directory: &'a Path,
    /// Steps above the directory that was asked about.
    depth: usize,
}

impl Place<'_> {
    fn has(&self, name: &str) -> bool {
        self.directory.join(name).exists()
    }

    /// The first of these files that is there.
    fn first(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().find(|name| self.has(name)).copied()
    }

    /// The text of a file; empty when there is none.
    fn read(&self, name: &str) -> String {
        read::text(&self.directory.join(name)).unwrap_or_default()
    }

    fn found(&self, name: &str, line: impl Into<String>) -> Found {
        Found {
            line: line.into(),
            by: self.directory.join(name),
        }
    }

    /// The way to a file here from the directory that was asked about.
    fn to(&self, name: &str) -> String {
        match self.depth {
            0 => format!("./{name}"),
            depth => format!("{}{name}", "../".repeat(depth)),
        }
    }

    /// ` -C ../..` for tools that do not look upwards by themselves.
    fn option(&self, option: &str) -> String {
        match self.depth {
            0 => String::new(),
            depth => format!(" {option} {}", vec![".."; depth].join("/")),
        }
    }

    /// The first usual name of a task among the names that there are.
    fn script(&self, task: Task, names: &[String]) -> Option<&'static str> {
        task.scripts()
            .iter()
            .find(|script| names.iter().any(|name| name == *script))
            .copied()
    }
}

/// Names of the targets of the Makefile in a directory.
fn make_targets(directory: &Path) -> Vec<String> {
    let targets = sources::make::targets_in(directory);
    targets.into_iter().map(|target| target.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], task: Task, expected: Option<&str>) {
        let dir = tempfile::tempdir().expect("tempdir");
        for (name, text) in files {
            let file = dir.path().join(name);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("made");
            std::fs::write(file, text).expect("written");
        }
        let found = command(task, dir.path(), Path::new("/nowhere"));
        assert_eq!(
            found.as_ref().map(|found| found.line.as_str()),
            expected,
            "{files:?}"
        );
        if let Some(found) = found {
            assert!(found.by.exists(), "{found:?}");
        }
    }

    #[test]
    fn each_kind_of_project_has_its_own_command() {
        use Task::{Build, Format, Start, Test};
        for (file, text, task, line) in [
            ("Cargo.toml", "[package]", Test, "cargo test"),
            ("Cargo.toml", "[package]", Format, "cargo fmt"),
            ("go.mod", "module x", Test, "go test ./..."),
            ("go.mod", "module x", Build, "go build ./..."),
            ("pom.xml", "", Build, "mvn package"),
            ("build.gradle.kts", "", Test, "gradle test"),
            ("gradlew", "", Build, "./gradlew build"),
            ("tox.ini", "", Test, "tox"),
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]",
                Test,
                "pytest",
            ),
            ("pyproject.toml", "[tool.ruff]", Format, "ruff format"),
            ("pyproject.toml", "[tool.black]", Format, "black ."),
            ("uv.lock", "", Test, "uv run pytest"),
            ("poetry.lock", "", Test, "poetry run pytest"),
            ("manage.py", "", Start, "python manage.py runserver"),
            ("deno.json", "{}", Test, "deno test"),
            ("mix.exs", "", Build, "mix compile"),
            (
                "CMakeLists.txt",
                "",
                Build,
                "cmake -B build && cmake --build build",
            ),
            ("Package.swift", "", Test, "swift test"),
            ("build.zig", "", Build, "zig build"),
            ("Makefile", "all: x\n\tcc x.c\n", Build, "make"),
            ("Makefile", "check:\n\t./check\n", Test, "make check"),
            ("justfile", "dev:\n  serve\n", Start, "just dev"),
            (
                "Taskfile.yml",
                "tasks:\n  fmt:\n    cmds: [x]\n",
                Format,
                "task fmt",
            ),
            ("Gemfile", "gem 'rspec'", Test, "bundle exec rspec"),
            ("app.sln", "", Test, "dotnet test"),
        ] {
            check(&[(file, text)], task, Some(line));
        }
        check(&[("README.md", "")], Test, None);
        check(&[("Makefile", "all:\n")], Format, None);
    }

    #[test]
    fn the_scripts_of_package_json_are_run_by_the_tool_whose_lock_is_there() {
        let package =
            r#"{"scripts": {"dev": "vite", "test": "vitest", "format": "prettier -w ."}}"#;
        for (lock, line) in [
            ("", "npm run dev"),
            ("package-lock.json", "npm run dev"),
            ("pnpm-lock.yaml", "pnpm run dev"),
            ("yarn.lock", "yarn run dev"),
            ("bun.lock", "bun run dev"),
        ] {
            let mut files = vec![("package.json", package)];
            files.extend((!lock.is_empty()).then_some((lock, "")));
            check(&files, Task::Start, Some(line));
        }
        let files = [("package.json", package)];
        check(&files, Task::Test, Some("npm test"));
        check(&files, Task::Format, Some("npm run format"));
        check(&files, Task::Build, None);
        let named = r#"{"packageManager": "pnpm@9.1.0", "scripts": {"build": "x"}}"#;
        check(
            &[("package.json", named)],
            Task::Build,
            Some("pnpm run build"),
        );
    }

    #[test]
    fn the_script_that_npm_init_writes_is_no_test() {
        let text = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        check(&[("package.json", text)], Task::Test, None);
    }

    #[test]
    fn what_exists_decides_among_several_tools() {
        let cargo = ("Cargo.toml", "[package]");
        check(
            &[cargo, ("Makefile", "test:\n")],
            Task::Test,
            Some("cargo test"),
        );
        check(
            &[cargo, ("src/lib.rs", ""), ("justfile", "dev:\n")],
            Task::Start,
            Some("just dev"),
        );
        check(
            &[cargo, ("src/main.rs", "")],
            Task::Start,
            Some("cargo run"),
        );
        check(
            &[cargo, (".config/nextest.toml", "")],
            Task::Test,
            Some("cargo nextest run"),
        );
    }

    #[test]
    fn a_project_is_found_from_below_and_not_beyond_its_repository() {
        let dir = tempfile::tempdir().expect("tempdir");
        let root = dir.path();
        let deep = root.join("a/b");
        std::fs::create_dir_all(&deep).expect("made");
        std::fs::write(root.join("Makefile"), "test:\n").expect("written");
        let line = |cwd: &Path, home: &Path| command(Task::Test, cwd, home).map(|f| f.line);
        let elsewhere = Path::new("/nowhere");
        assert_eq!(
            line(&deep, elsewhere).as_deref(),
            Some("make -C ../.. test")
        );
        assert_eq!(line(&deep, root), None);
        std::fs::write(root.join("gradlew"), "").expect("written");
        assert_eq!(
            line(&deep, elsewhere).as_deref(),
            Some("../../gradlew test -p ../..")
        );
        std::fs::create_dir(root.join("a/.git")).expect("made");
        assert_eq!(line(&deep, elsewhere), None);
    }
}
