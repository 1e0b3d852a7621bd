//! The tools, one function each: what marks a project of theirs, and what they call each task.

use super::{Found, Place, Task, make_targets};
use crate::sources::{just, package, taskfile};

/// Asked in this order: a language's own tools, then those that run any command.
const TOOLS: [fn(&Place<'_>, Task) -> Option<Found>; 17] = [
    cargo,
    package_scripts,
    deno,
    go,
    gradle,
    maven,
    python,
    mix,
    ruby,
    dotnet,
    swift,
    zig,
    just_recipe,
    task_file,
    make_target,
    cmake,
    formatter,
];

pub(super) fn find(place: &Place<'_>, task: Task) -> Option<Found> {
    TOOLS.iter().find_map(|tool| tool(place, task))
}

fn cargo(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(&["Cargo.toml"])?;
    let line = match task {
        Task::Test if place.has(".config/nextest.toml") => "cargo nextest run",
        Task::Test => "cargo test",
        Task::Build => "cargo build",
        Task::Format => "cargo fmt",
        Task::Start => {
            let runs = place.has("src/main.rs")
                || place.has("src/bin")
                || place.read(marker).contains("[[bin]]");
            runs.then_some("cargo run")?
        }
    };
    Some(place.found(marker, line))
}

fn package_scripts(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(&["package.json"])?;
    let package = package::parse(&place.read(marker));
    let names: Vec<String> = package
        .scripts
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    let script = place.script(task, &names)?;
    let tool = package.manager(place.directory);
    let line = match (tool, script) {
        ("npm", "test" | "start") => format!("npm {script}"),
        _ => format!("{tool} run {script}"),
    };
    Some(place.found(marker, line))
}

fn deno(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(&["deno.json", "deno.jsonc"])?;
    let line = match task {
        Task::Test => "deno test",
        Task::Format => "deno fmt",
        Task::Start => "deno task dev",
        Task::Build => "deno task build",
    };
    let named = matches!(task, Task::Test | Task::Format)
        || place
            .read(marker)
            .contains(&format!("\"{}\"", line.rsplit(' ').next()?));
    named.then(|| place.found(marker, line))
}

fn go(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(&["go.mod"])?;
    let line = match task {
        Task::Test => "go test ./...",
        Task::Build => "go build ./...",
        Task::Format => "go fmt ./...",
        Task::Start => place.has("main.go").then_some("go run .")?,
    };
    Some(place.found(marker, line))
}

fn gradle(place: &Place<'_>, task: Task) -> Option<Found> {
    let wrapper = place.has("gradlew");
    let marker = place.first(&[
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
        "gradlew",
    ])?;
    let text = place.read("build.gradle") + &place.read("build.gradle.kts");
    let name = match task {
        Task::Test => "test",
        Task::Build => "build",
        Task::Format => text.contains("spotless").then_some("spotlessApply")?,
        Task::Start if text.contains("springframework.boot") => "bootRun",
        Task::Start => text.contains("application").then_some("run")?,
    };
    let tool = match wrapper {
        true => place.to("gradlew"),
        false => "gradle".to_owned(),
    };
    Some(place.found(marker, format!("{tool} {name}{}", place.option("-p"))))
}

fn maven(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(&["pom.xml"])?;
    let text = place.read(marker);
    let name = match task {
        Task::Test => "test",
        Task::Build => "package",
        Task::Format => text.contains("spotless").then_some("spotless:apply")?,
        Task::Start => text.contains("spring-boot").then_some("spring-boot:run")?,
    };
    let tool = match place.has("mvnw") {
        true => place.to("mvnw"),
        false => "mvn".to_owned(),
    };
    let file = match place.depth {
        0 => String::new(),
        _ => format!(" -f {}", place.to("pom.xml")),
    };
    Some(place.found(marker, format!("{tool}{file} {name}")))
}

fn python(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(&[
        "pyproject.toml",
        "uv.lock",
        "poetry.lock",
        "tox.ini",
        "pytest.ini",
        "setup.py",
        "setup.cfg",
        "manage.py",
        "requirements.txt",
    ])?;
    let settings = place.read("pyproject.toml") + &place.read("setup.cfg");
    let through = match place.first(&["uv.lock", "poetry.lock"]) {
        Some("uv.lock") => "uv run ",
        Some(_) => "poetry run ",
        None => "",
    };
    let line = match task {
        Task::Test if place.has("tox.ini") => "tox".to_owned(),
        Task::Test if place.has("manage.py") && !settings.contains("pytest") => {
            format!("{through}python manage.py test")
        }
        Task::Test => format!("{through}pytest"),
        Task::Build if through.is_empty() => {
            place.first(&["pyproject.toml", "setup.py"])?;
            "python -m build".to_owned()
        }
        Task::Build => format!("{}build", through.trim_end_matches("run ")),
        Task::Start => {
            place.first(&["manage.py"])?;
            format!("{through}python manage.py runserver")
        }
        Task::Format if settings.contains("black") => format!("{through}black ."),
        Task::Format if settings.contains("ruff") || place.has("ruff.toml") => {
            format!("{through}ruff format")
        }
        Task::Format => return None,
    };
    Some(place.found(marker, line))
}

fn mix(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(&["mix.exs"])?;
    let line = match task {
        Task::Test => "mix test",
        Task::Build => "mix compile",
        Task::Format => "mix format",
        Task::Start if place.read(marker).contains("phoenix") => "mix phx.server",
        Task::Start => "mix run --no-halt",
    };
    Some(place.found(marker, line))
}

fn ruby(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(&["Gemfile"])?;
    let gems = place.read(marker);
    let line = match task {
        Task::Test if gems.contains("rspec") || place.has("spec") => "bundle exec rspec",
        Task::Test if place.has("bin/rails") => "bin/rails test",
        Task::Test => place.has("Rakefile").then_some("bundle exec rake test")?,
        Task::Start => place.has("bin/rails").then_some("bin/rails server")?,
        Task::Format => gems
            .contains("rubocop")
            .then_some("bundle exec rubocop -A")?,
        Task::Build => return None,
    };
    Some(place.found(marker, line))
}

fn dotnet(place: &Place<'_>, task: Task) -> Option<Found> {
    let is_project = |name: &str| {
        [".sln", ".slnx", ".csproj", ".fsproj"]
            .iter()
            .any(|ending| name.ends_with(ending))
    };
    let marker = crate::sources::read::names(place.directory)
        .into_iter()
        .find(|name| is_project(name))?;
    let line = match task {
        Task::Test => "dotnet test",
        Task::Build => "dotnet build",
        Task::Format => "dotnet format",
        Task::Start => "dotnet run",
    };
    (place.depth == 0).then(|| place.found(&marker, line))
}

fn swift(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(&["Package.swift"])?;
    let line = match task {
        Task::Test => "swift test",
        Task::Build => "swift build",
        Task::Start => "swift run",
        Task::Format => "swift format -ir .",
    };
    Some(place.found(marker, line))
}

fn zig(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(&["build.zig"])?;
    let line = match task {
        Task::Test => "zig build test",
        Task::Build => "zig build",
        Task::Start => "zig build run",
        Task::Format => "zig fmt .",
    };
    Some(place.found(marker, line))
}

fn just_recipe(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(just::FILES)?;
    let recipes = just::recipes(&place.read(marker));
    let names: Vec<String> = recipes.into_iter().map(|recipe| recipe.name).collect();
    let recipe = place.script(task, &names)?;
    Some(place.found(marker, format!("just {recipe}")))
}

fn task_file(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(taskfile::FILES)?;
    let tasks = taskfile::tasks(&place.read(marker));
    let names: Vec<String> = tasks.into_iter().map(|(name, _)| name).collect();
    let name = place.script(task, &names)?;
    Some(place.found(marker, format!("task {name}")))
}

fn make_target(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place.first(crate::sources::make::FILES)?;
    let target = place.script(task, &make_targets(place.directory))?;
    let directory = place.option("-C");
    let line = match target {
        // The first target, by convention what is built.
        "all" => format!("make{directory}"),
        target => format!("make{directory} {target}"),
    };
    Some(place.found(marker, line))
}

fn cmake(place: &Place<'_>, task: Task) -> Option<Found> {
    let marker = place
        .first(&["CMakeLists.txt"])
        .filter(|_| place.depth == 0)?;
    let line = match task {
        Task::Build => "cmake -B build && cmake --build build",
        Task::Test => "ctest --test-dir build",
        Task::Start | Task::Format => return None,
    };
    Some(place.found(marker, line))
}

/// Formatters that need nothing but their settings.
fn formatter(place: &Place<'_>, task: Task) -> Option<Found> {
    if task != Task::Format {
        return None;
    }
    let prettier = place.first(&[
        ".prettierrc",
        ".prettierrc.json",
        ".prettierrc.yaml",
        "prettier.config.js",
        "prettier.config.mjs",
    ]);
    if let Some(marker) = prettier {
        return Some(place.found(marker, "npx prettier --write ."));
    }
    let marker = place.first(&["biome.json"])?;
    Some(place.found(marker, "npx biome format --write"))
}
