"""Sessions and directories invented by rule: a name is made, fetched, unpacked, edited or listed, then used.

`Inventor.path_case()` and `Inventor.line_case()` return decisions in the form of decisions.py.
Names come from real trees, file kinds from the commands that take them.
"""

import random

# command prefix -> what it takes ("/" a directory, "*" any file)
TAKES = """
python|.py;python3|.py;uv run|.py;python -m pdb|.py;ipython|.py;pytest|.py;pytest -x|.py;mypy|.py;black|.py;ruff check|.py;streamlit run|.py;torchrun --nproc_per_node 8|.py
node|.js;deno run|.ts;npx tsx|.ts;bun run|.ts;npx prettier --write|.ts .js .css;npx eslint|.js .ts;tsc|.ts
bash|.sh;sh|.sh;chmod +x|.sh;source|.sh .env activate;shellcheck|.sh;./|.sh
gcc|.c;gcc -o out|.c;clang|.c;g++|.cpp .cc;g++ -O2|.cpp;rustc|.rs;go run|.go;gofmt -w|.go;javac|.java;java -jar|.jar;ruby|.rb;perl|.pl;php|.php;lua|.lua;Rscript|.R;julia|.jl;ghc|.hs;kotlinc|.kt;nvcc|.cu;dotnet build|.csproj .sln;swift|.swift;elixir|.exs
pip install -r|requirements.txt requirements-dev.txt requirements_test.txt;uv pip install -r|requirements.txt requirements-dev.txt;pip install|.whl .tar.gz;conda env create -f|environment.yml env.yaml;npm install|.tgz
tar xf|.tar.gz .tar.xz .tgz .tar.bz2;tar xzf|.tar.gz .tgz;tar -xzvf|.tar.gz .tgz;tar tf|.tar.gz .tar;unzip|.zip;unzip -l|.zip;gunzip|.gz;7z x|.7z .zip;zcat|.gz;xz -d|.xz;unzstd|.zst;sudo dpkg -i|.deb;sudo apt install ./|.deb;sudo rpm -i|.rpm
docker compose -f|docker-compose.yml docker-compose.prod.yml compose.yaml docker-compose.dev.yml;docker-compose -f|docker-compose.yml docker-compose.override.yml;docker build -f|Dockerfile Dockerfile.dev Dockerfile.gpu;docker load -i|.tar
kubectl apply -f|.yaml .yml;kubectl create -f|.yaml .yml;kubectl delete -f|.yaml .yml;helm install app|/;helm upgrade app|/;kustomize build|/;kubectl apply -k|/;ansible-playbook|.yml .yaml;ansible-playbook -i hosts|.yml;terraform plan -var-file|.tfvars;terraform fmt|.tf;packer build|.pkr.hcl .json;kind create cluster --config|.yaml;yamllint|.yaml .yml
jq .|.json;cat|.json .txt .md .log .yaml .csv *;less|.log .txt .md;tail -f|.log;head|.csv .txt .log;bat|*;wc -l|.txt .csv *;grep -n TODO|*;vim|* .py .c .js .md .yaml .rs .go;nvim|* .lua .rs .py;nano|* .conf .txt .sh;code|/ *;emacs|*;micro|*;vi|* .conf
git add|* .py .md /;git diff|*;git checkout --|*;git restore|*;git rm|*;git blame|*;git apply|.patch .diff;git am|.patch;patch -p1 -i|.patch .diff;git log -p|*
rm|* .log .tmp .o;rm -rf|/ build/ node_modules/ dist/ target/;cp|*;mv|*;du -sh|/;ls|/;ls -la|/;tree|/;find|/;rsync -av|/;scp|*;cd|/ src/ docs/ build/;cd|/;pushd|/;mkdir -p|/;zip -r out.zip|/;tar czf out.tar.gz|/;cargo run --manifest-path|Cargo.toml;make -C|/;cmake -S|/;npm --prefix|/;pip install -e|/;docker build|/;stow|/;chown -R me|/;tokei|/
psql -f|.sql;sqlite3|.db .sqlite;mysql db -e source|.sql;duckdb|.db .parquet;pg_restore -d db|.dump;redis-server|.conf;nginx -c|.conf;caddy run --config|Caddyfile;prometheus --config.file|.yml;ffmpeg -i|.mp4 .mov .wav .mkv;ffprobe|.mp4 .mkv;mpv|.mp4 .mkv .mp3;convert|.png .jpg;feh|.png .jpg;open|.png .pdf .html;xdg-open|.pdf .html .png;pdftotext|.pdf;zathura|.pdf;pandoc|.md .rst;pdflatex|.tex;latexmk -pdf|.tex;xelatex|.tex;dot -Tpng|.dot;gimp|.png;exiftool|.jpg
openssl x509 -text -in|.pem .crt;ssh -i|.pem id_rsa;ssh-add|id_ed25519 id_rsa;gpg --verify|.asc .sig;gpg --import|.asc .gpg;sha256sum|.iso .tar.gz .zip;sha256sum -c|SHA256SUMS .sha256;protoc --go_out=.|.proto;buf generate|.proto;jupyter nbconvert --to html|.ipynb;jupyter lab|.ipynb;papermill|.ipynb;make -f|Makefile .mk;ninja -C|build/ /;meson setup|build/ /;cmake --build|build/ /;ctest --test-dir|build/;gdb|.out a.out;valgrind|a.out;strip|.so;objdump -d|.o;nm|.o .so .a;ld|.o;wasm-pack build|/;solc|.sol;vvp|.vvp;verilator --lint-only|.v;cppcheck|.c .cpp;clang-format -i|.c .cpp .h;rustfmt|.rs;llama-cli -m|.gguf;ollama create m -f|Modelfile;accelerate launch|.py;deepspeed|.py;sbatch|.sh .slurm;crontab|.txt;visudo -c -f|.conf;systemd-analyze verify|.service;sudo cp|.service .conf;logrotate -d|.conf;k6 run|.js;locust -f|.py;http POST :8000 <|.json;mkdocs build -f|mkdocs.yml;sphinx-build -b html|docs/;hugo -s|/;bundle exec rspec|.rb;rspec|.rb;phpunit|.php;mix test|.exs;jest|.js .ts;vitest run|.ts;playwright test|.ts;cypress run --spec|.js
"""
RULES = [(c, k.split()) for line in TAKES.strip().split("\n") for c, k in (item.rsplit("|", 1) for item in line.split(";"))]
EDIT = "vim nvim nano vi emacs code micro cat less bat hx".split()
RUN = {".py": ["python", "python3", "pytest", "black", "uv run"], ".c": ["gcc", "clang", "cc"], ".cpp": ["g++", "clang++"], ".sh": ["bash", "sh", "chmod +x"],
       ".js": ["node"], ".ts": ["npx tsx", "deno run"], ".go": ["go run", "gofmt -w"], ".rs": ["rustc", "rustfmt"], ".rb": ["ruby"], ".java": ["javac"],
       ".tex": ["pdflatex", "latexmk"], ".md": ["pandoc", "git add"], ".yaml": ["kubectl apply -f", "yamllint"], ".yml": ["ansible-playbook", "docker compose -f"],
       ".json": ["jq .", "cat"], ".tf": ["terraform fmt"], ".sql": ["psql -f"], ".lua": ["lua"], ".php": ["php"], ".R": ["Rscript"], ".ipynb": ["jupyter lab"]}
NOISE = ["ls", "ls -la", "ll", "clear", "git status", "pwd", "git log --oneline", "git pull", "df -h", "htop", "history", "git fetch", "make", "gs", "l", "date", "cd ..", "cd -"]
HOSTS = ["https://github.com/", "git@github.com:", "https://gitlab.com/", "gh:", "https://codeberg.org/"]
SYLLABLES = "ba co da el fa gro hi in jo ka lu mo ne or pa qui ra so ti ul va wy xe yo ze net lab kit core app web data log test demo run map".split()
ALIAS = {"git": ["g", "git"], "kubectl": ["k", "kubectl"], "docker compose": ["dc", "docker compose"], "python": ["py", "python", "python3"]}


def extension(name):
    for double in (".tar.gz", ".tar.xz", ".tar.bz2", ".pkr.hcl"):
        if name.endswith(double):
            return double
    at = name.rfind(".")
    return name[at:] if at > 0 else ""


class Inventor:
    """Draws decisions from trees {repo: {directory: names}} with a seeded generator."""

    def __init__(self, trees, lines, seed):
        self.rng, self.lines = random.Random(seed), lines
        self.places = [(repo, d, sorted(names)) for repo, dirs in trees.items() for d, names in dirs.items() if len(names) <= 80 and sum(not n.startswith(".") for n in names) >= 3]
        weight = {}
        for repo, _, _ in self.places:
            weight[repo] = weight.get(repo, 0) + 1
        self.weights = [weight[repo] ** -0.5 for repo, _, _ in self.places]
        self.stems = sorted({n.rstrip("/").split(".")[0] for _, _, names in self.places for n in names if 1 < len(n) < 30 and not n.startswith(".")})
        self.dirs = sorted({n for _, _, names in self.places for n in names if n.endswith("/") and not n.startswith(".")})

    def chance(self, p):
        return self.rng.random() < p

    def stem(self):
        if self.chance(0.3):
            sep = self.rng.choice(["", "", "-", "_"])
            return sep.join(self.rng.choice(SYLLABLES) for _ in range(self.rng.randint(2, 3))) + self.rng.choice(["", "", "", "1", "2", "-v2"])
        return self.rng.choice(self.stems)

    def name(self, kind):
        if kind == "/":
            return self.rng.choice(self.dirs) if self.chance(0.6) else self.stem() + "/"
        if kind == "*":
            return self.stem() + self.rng.choice([".py", ".c", ".h", ".md", ".txt", ".js", ".ts", ".go", ".rs", ".yaml", ".json", ".toml", ".sh", ".html", ".cfg", ".java", ""])
        return self.stem() + kind if kind.startswith(".") and len(kind) < 9 and kind != ".env" else kind

    def place(self):
        """A directory: (path below home, names); mostly a real one, sometimes invented."""
        if self.chance(0.75):
            repo, d, names = self.rng.choices(self.places, self.weights)[0] if self.chance(0.3) else self.rng.choice(self.places)
            parent = self.rng.choice(["work", "src", "projects", "code", "dev", "repos", "git"])
            return f"~/{parent}/{repo.split('/')[1]}" + ("" if d == "." else "/" + d), list(names)
        kinds = self.rng.choices([".py", ".c", ".h", ".md", ".txt", ".js", ".log", ".csv", ".pdf", ".png", ".zip", ".tar.gz", ".json", ".sh", ".yaml", "/", "/", ".mp4", ".go", ".rs"], k=self.rng.randint(3, 24))
        return self.rng.choice(["~", "~/Downloads", "~/Desktop", "~/Documents", "~/tmp", "/tmp", "~/notes", "~/" + self.stem()]), [self.name(k) for k in kinds]

    def near(self, name):
        """A name that is easy to mistake for `name`."""
        slash, body = ("/", name[:-1]) if name.endswith("/") else ("", name)
        ext = extension(body)
        stem = body[:len(body) - len(ext)]
        ways = [stem + self.rng.choice(["_old", "2", "-bak", "_test", "s", "-new", "1", ".orig"]) + ext, self.rng.choice(["my", "old-", "test_", "new"]) + stem + ext,
                stem[:max(1, len(stem) // 2)] + self.rng.choice(SYLLABLES) + ext]
        if not slash:
            ways += [stem + self.rng.choice([".txt", ".h", ".md", ".bak", ".o", ".py", ".json", ".lock"]), self.stem() + ext]
        return self.rng.choice(ways) + slash

    def noisy(self, recent, last=2):
        """Puts unrelated commands before, and now and then between, the ones that matter."""
        before = []
        for _ in range(self.rng.randint(0, 5)):
            before.append(self.rng.choice(NOISE) if self.chance(0.4) else self.rng.choice(self.lines))
        out = []
        for command in recent:
            out.append(command)
            if self.chance(0.15 * last):
                out.append(self.rng.choice(NOISE))
        return [(c, 1 if self.chance(0.06) else 0) for c in before + out][-8:]

    def finish(self, kind, cwd, names, recent, line, answer, decoys=2):
        names = set(names) | {answer} | {self.near(answer) for _ in range(self.rng.randint(0, decoys))}
        if line.split()[0] in ("cd", "pushd") and answer.endswith("/"):
            kind, names = "cd", {n for n in names if n.endswith("/")}
        if not answer.startswith("."):
            names = {n for n in names if not n.startswith(".")}
        if len(names) < 3:
            names |= {self.name("/") for _ in range(3)}
        return {"kind": kind, "cwd": cwd, "listing": sorted(names) if "/" not in line.split()[-1] else [], "recent": recent,
                "line": line, "candidates": sorted(names), "answer": answer}

    def path_case(self):
        rule = self.rng.choices([self.kind_rule, self.edit_rule, self.create_rule, self.fetch_rule, self.unpack_rule, self.series_rule, self.look_rule, self.same_rule],
                                [30, 14, 12, 12, 8, 12, 8, 8])[0]
        return rule()

    def kind_rule(self):
        command, kinds = self.rng.choice(RULES)
        cwd, names = self.place()
        kind = self.rng.choice(kinds)
        fits = [n for n in names if (n.endswith("/") if kind == "/" else n.endswith(kind) if kind.startswith(".") else n == kind)]
        answer = self.rng.choice(fits) if fits and self.chance(0.8) else self.name(kind)
        other = [n for n in names if n != answer]
        if kind not in ("*", "/") and self.chance(0.7):  # keep the answer the only one of its kind
            other = [n for n in other if extension(n) != extension(answer) or not extension(answer)]
        command = self.rng.choice(ALIAS.get(command, [command]))
        recent = [(self.rng.choice(self.lines), 0) for _ in range(self.rng.choice([0, 0, 1, 3, 6]))]
        return self.finish("path", cwd, other, recent, command, answer, 1 if kind in ("*", "/") else 0)

    def edit_rule(self):
        cwd, names = self.place()
        files = [n for n in names if not n.endswith("/") and extension(n)]
        answer = self.rng.choice(files) if files and self.chance(0.6) else self.name("*")
        use = self.rng.choice(RUN.get(extension(answer), ["cat", "git add", "cp", "less"]) + ["git add", "git diff", "vim", "rm", "mv", "cp", "git commit -m fix"])
        first = self.rng.choice([f"{self.rng.choice(EDIT)} {answer}", f"{self.rng.choice(EDIT)} {answer}", f"git diff {answer}", f"{use} {answer}"])
        return self.finish("path", cwd, names, self.noisy([first]), use, answer, 3)

    def create_rule(self):
        cwd, names = self.place()
        if self.chance(0.5):
            answer = self.name("/")
            made = self.rng.choice(["mkdir {}", "mkdir -p {}", "cargo new {}", "python -m venv {}", "npm create vite@latest {}", "django-admin startproject {}", "cp -r old {}", "git worktree add {}", "npx create-next-app {}", "mix new {}", "rails new {}", "uv init {}", "virtualenv {}", "ls {}"]).format(answer[:-1])
            use = self.rng.choice(["cd", "cd", "cd", "cd", "ls", "code", "du -sh", "git add", "rm -rf", "mv *.txt"])
        else:
            answer = self.name("*")
            made = self.rng.choice(["touch {}", "cp template {}", "mv old.txt {}", "echo hi > {}", "cat > {}", "curl -o {} https://host/x", "gcc main.c -o {}", "pip freeze > {}", "git stash show -p > {}", "ssh-keygen -f {}", "wget -O {} https://host/y"]).format(answer)
            use = self.rng.choice(["vim", "cat", "git add", "chmod +x", "less", "rm", "mv", "cp", "nano", "code", "head", "wc -l"] + RUN.get(extension(answer), []))
        return self.finish("path", cwd, names, self.noisy([made]), use, answer, 3)

    def fetch_rule(self):
        cwd, names = self.place()
        owner = self.stem().replace("_", "-")
        if self.chance(0.55):
            answer = self.name("/")
            url = self.rng.choice(HOSTS) + owner + "/" + answer[:-1] + self.rng.choice(["", ".git", ".git"])
            made = self.rng.choice(["git clone ", "git clone ", "git clone --depth 1 ", "git clone --recursive ", "gh repo clone "]) + url
            use = self.rng.choice(["cd", "cd", "cd", "cd", "ls", "code", "cat", "pip install -e"])
        else:
            kind = self.rng.choice([".tar.gz", ".zip", ".deb", ".sh", ".whl", ".iso", ".json", ".csv", ".AppImage", ".tgz", ".pdf", ".tar.xz"])
            answer = self.stem() + self.rng.choice(["", "-1.2.0", "-v3", "_amd64", "-linux-x64"]) + kind
            made = self.rng.choice(["wget ", "curl -O ", "curl -LO ", "aria2c ", "wget -q ", "scp host:"]) + "https://dl.example.org/" + owner + "/" + answer
            use = {".tar.gz": ["tar xf", "tar xzf", "tar -xzvf"], ".tgz": ["tar xzf"], ".tar.xz": ["tar xf"], ".zip": ["unzip"], ".deb": ["sudo dpkg -i", "sudo apt install"], ".sh": ["bash", "chmod +x", "sh", "less"],
                   ".whl": ["pip install"], ".iso": ["sha256sum"], ".json": ["jq .", "cat"], ".csv": ["head", "wc -l"], ".AppImage": ["chmod +x"], ".pdf": ["zathura", "open"]}[kind]
            use = self.rng.choice(use + ["rm", "ls -lh"])
        return self.finish("path", cwd, names, self.noisy([made]), use, answer, 3)

    def unpack_rule(self):
        cwd, names = self.place()
        base = self.stem() + self.rng.choice(["", "-1.0", "-2.3.1", "-master", "-main"])
        pack = base + self.rng.choice([".tar.gz", ".zip", ".tar.xz", ".tgz", ".tar.bz2"])
        made = ("unzip " if pack.endswith("zip") else self.rng.choice(["tar xf ", "tar xzf ", "tar -xvf ", "tar zxvf "])) + pack
        before = [f"wget https://dl.example.org/{pack}"] if self.chance(0.5) else []
        return self.finish("path", cwd, [*names, pack, base + "/"], self.noisy([*before, made]), self.rng.choice(["cd", "cd", "cd", "ls", "rm -rf"]), base + "/", 2)

    def series_rule(self):
        """Walks through the files of a directory in order; the next one is meant."""
        cwd, names = self.place()
        groups = {}
        for n in sorted(names):
            if not n.startswith("."):
                groups.setdefault(extension(n) or ("/" if n.endswith("/") else ""), []).append(n)
        group = max(groups.values(), key=len) if groups else []
        if len(group) < 3:
            group = sorted({self.name(".py") for _ in range(6)})
            names = [*names, *group]
        at = self.rng.randint(1, len(group) - 1)
        command = self.rng.choice(self.lines).split()
        command = " ".join(command[:2]) if self.chance(0.4) else self.rng.choice(["python", "cat", "vim", "kubectl apply -f", "bash", "git add", "node", "less", "./run.sh"])
        head = self.rng.choice(["", "", "", "configs/", "examples/", "scripts/", "./"])
        done = group[max(0, at - self.rng.randint(1, 4)):at]
        return self.finish("path", cwd, names, self.noisy([f"{command} {head}{d}" for d in done], 0), f"{command} {head}".strip(), group[at], 0)

    def look_rule(self):
        """ls or cd into a directory, then something there."""
        cwd, names = self.place()
        inside = self.rng.choice(self.dirs)
        files = [n for n in names if not n.startswith(".")]
        answer = self.rng.choice(files)
        command = self.rng.choice(["cat", "vim", "less", "head", "python", "bash", "code", "ls", "cp"])
        if answer.endswith("/"):
            command = self.rng.choice(["ls", "cd", "cd", "code", "tree"])
        first = self.rng.choice([f"ls {inside}", f"ls -la {inside}{answer}", f"grep -n main {inside}{answer}", f"git diff {inside}{answer}", f"head {inside}{answer}"])
        return self.finish("path", cwd, files, self.noisy([first]), f"{command} {inside}", answer, 1)

    def same_rule(self):
        """The command of before again, with the same or a sibling file."""
        command, kinds = self.rng.choice(RULES)
        cwd, names = self.place()
        answer = self.name(self.rng.choice(kinds))
        middle = [f"{self.rng.choice(EDIT)} {answer}"] if not answer.endswith("/") else ["ls"]
        return self.finish("path", cwd, names, self.noisy([f"{command} {answer}", *middle[:self.rng.randint(0, 1)]]), command, answer, 3)

    def line_case(self):
        """Which whole line comes next in a session that repeats itself."""
        file, ext = self.stem(), self.rng.choice([".py", ".c", ".go", ".rs", ".tex", ".js"])
        build = {".py": ["pytest", f"python {file}.py"], ".c": ["make", f"./{file}"], ".go": ["go build ./...", "go test ./..."],
                 ".rs": ["cargo build", "cargo test"], ".tex": ["latexmk -pdf"], ".js": ["npm test", f"node {file}.js"]}[ext]
        loop = [f"{self.rng.choice(EDIT[:6])} {file}{ext}", *build] if self.chance(0.6) else self.rng.sample(self.lines, min(self.rng.randint(2, 4), len(self.lines)))
        ending = ["git add -A", "git commit -m wip", "git push"] if self.chance(0.4) else self.rng.sample(NOISE, 2)
        session = []
        for _ in range(self.rng.randint(2, 4)):
            session += loop
            if self.chance(0.5):
                session += ending
            if self.chance(0.25):
                session.append(self.rng.choice(self.lines))
        at = self.rng.randint(len(loop), len(session) - 1)
        pool = set(session) | set(self.rng.sample(self.lines, min(12, len(self.lines)))) | set(self.rng.sample(NOISE, 4))
        return {"kind": "line", "cwd": "~/" + self.stem(), "listing": [], "recent": [(c, 0) for c in session[max(0, at - 8):at]], "line": "",
                "candidates": sorted(pool), "answer": session[at]}
