//! Secrets in less common places, and ordinary commands that look like those.

use crate::redaction::{hides, keeps};

#[test]
fn flags_joined_to_switches_lose_their_value() {
    hides(
        "s3cr3t",
        &[
            "curl -su me:§ https://x.io",
            "curl -sSLu me:§ https://x.io",
            "curl -ku me:§ https://x.io",
            "curl -sume:§ https://x.io",
            "curl -fsSLU me:§ https://x.io",
            "zip -rP § x.zip dir",
            "unzip -oP § x.zip",
            "mysql \"-p§\" shop",
            "mysql '-p§' shop",
            "ssh-keygen -qN § -f k",
            "htpasswd -bB .htpasswd me §",
            "htpasswd -nbB me §",
            "htpasswd -cbB .htpasswd me §",
            "htpasswd -nb me § > users",
            "htpasswd -nb me § 2> log",
        ],
    );
    keeps(&[
        "curl -o file https://x.io",
        "curl -ou a:b",
        "curl -sSLo user:x https://x.io",
        "zip -r out dir",
        "tar -xpf x",
        "ls -pa",
        "cp -p a b",
        "mysql -Ap shop",
        "htpasswd -n me",
        "htpasswd .htpasswd me",
    ]);
}

#[test]
fn numbers_and_places_after_a_name_hide_nothing() {
    hides(
        "hunter2",
        &[
            "DB_PASSWORD2=§ make",
            "POSTGRES_PASSWORD_DEV=§ make",
            "export ADMIN_PASS1=§",
            "API_KEY_PROD=§ x",
            "AWS_SECRET_ACCESS_KEY_DEV=§ x",
            "GITHUB_TOKEN_RO=§ x",
            "SECRET_KEY_BASE=§ rails s",
            "MY_SECRETS=§ x",
            "DB_CREDS=§ x",
            "SSHPASS=§ sshpass -e ssh h",
            "API_TOKEN_PROD_2=§ x",
            "API_KEY_V2=§ x",
            "imapsync --password1 § --password2 §",
            "set -gx GITHUB_TOKEN_DEV §",
        ],
    );
    keeps(&[
        "PASS_COUNT=3 x",
        "TOKENIZERS_PARALLELISM=false x",
        "MAX_TOKENS=4096 x",
        "KEYBOARD=us x",
        "PWD_OLD=/srv x",
        "KEY_1=value x",
        "wpscan --passwords list.txt",
        "paperkey --secrets key.txt",
        "tool --creds path/to/creds.json",
    ]);
}

#[test]
fn names_that_turn_the_meaning_still_hide_what_looks_like_a_secret() {
    hides(
        "hunter2",
        &[
            "RESET_TOKEN=§ x",
            "USE_PASSWORD=§ x",
            "NO_PROXY_PASSWORD=§ x",
            "curl 'x.io/?reset_token=§'",
        ],
    );
    hides("p@ss!word", &["RESET_PASSWORD='§' x"]);
    hides("kHjQwErTyUiOp", &["RESET_TOKEN=§ x"]);
    keeps(&[
        "tool --no-password x",
        "psql --no-password shop01",
        "tool --max-token 400",
        "tool --max-token=128k",
        "tool --pad-token x",
        "tool --pad-token='<|endoftext|>'",
        "tool --eos-token='[EOS]'",
        "USE_PASSWORD=yes x",
        "ASK_PASSWORD=always x",
        "git log --show-signature 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    ]);
}

#[test]
fn an_at_sign_names_a_file_only_where_files_are_read() {
    hides(
        "@hunter2",
        &[
            "DB_PASSWORD='§' x",
            "DB_PASSWORD=§ x",
            "mysql -p§ shop",
            "curl -u bob:§ x.io",
            "tool --password § x",
            "DB_PASSWORD=§ curl -F a=@b x.io",
            "curl -d '{\"password\":\"§\"}' x.io",
        ],
    );
    keeps(&[
        "curl -F password=@pw.txt x.io",
        "curl --form 'token=@pw.txt' x.io",
        "curl --data-urlencode password@pw.txt x.io",
        "curl -d @body.json -H @headers x.io",
        "gh api -F token=@pw.txt /x",
        "http x.io password=@pw.txt",
        "vault kv put secret/x password=@pw.txt",
        "az x create --password @pw.txt",
    ]);
}

#[test]
fn nothing_is_substituted_within_single_quotes() {
    hides("{{hunter2", &["DB_PASSWORD='§' x", "tool --password '§'"]);
    hides("$(hunter2", &["DB_PASSWORD='§' x", "mysql -p'§' shop"]);
    keeps(&[
        "docker inspect --format 'password={{.Password}}' x",
        "X_TOKEN='{{ .Token }}' x",
        "X_TOKEN=\"$(pass show x)\" y",
        "bash -c 'X_TOKEN=\"$(pass show x)\" y'",
        "cat > x.yml <<EOF\npassword: {{ .Values.password }}\nEOF",
    ]);
}

#[test]
fn passwords_in_statements_of_sql_are_hidden() {
    hides(
        "s3cr3t",
        &[
            "psql -c \"ALTER USER bob PASSWORD '§'\"",
            "psql -c \"alter role bob with encrypted password '§';\"",
            "psql -c \"create user bob with login password '§'\"",
            "psql -c \"alter user bob password '§'\"",
            "psql <<< \"CREATE ROLE bob PASSWORD '§'\"",
            "psql -c 'ALTER USER bob PASSWORD '\\''§'\\'''",
            "psql <<EOF\nALTER USER bob\n  PASSWORD '§';\nEOF",
            "mysql -e \"CREATE USER 'a'@'%' IDENTIFIED BY '§'\"",
            "mysql -e 'create user a identified by \"§\"'",
            "mysql -e \"create user a identified by \\\"§\\\"\"",
            "mysql -e \"alter user a identified with mysql_native_password by '§'\"",
            "mysql -e \"grant all on x.* to a identified by '§' with grant option\"",
            "mysql -e \"set password for 'a'@'%' = PASSWORD('§')\"",
            "mysql -e \"SET PASSWORD FOR 'a'@'%' = '§'\"",
            "mysql -e \"set password = '§'\"",
            "sqlplus / <<EOF\nalter user bob identified by §;\nEOF",
            "sqlcmd -Q \"CREATE LOGIN bob WITH PASSWORD = '§'\"",
        ],
    );
    hides("it''s", &["psql -c \"ALTER USER bob PASSWORD '§'\""]);
    keeps(&[
        "git commit -m 'alter user password docs'",
        "git commit -m 'users are identified by name'",
        "psql -c \"select password from t\"",
        "psql -c \"select password from t where name = 'bob'\"",
        "psql -c \"alter user bob password '$PW'\"",
        "psql -c \"alter user bob password null\"",
        "psql -c \"create user bob\" && grep password 'file'",
        "grep -r \"password 'x'\" src",
    ]);
}

#[test]
fn what_is_given_to_a_store_of_secrets_is_hidden() {
    hides(
        "s3cr3t",
        &[
            "gh secret set NAME --body §",
            "gh secret set NAME --body=§",
            "gh secret set NAME -b §",
            "fly secrets set NAME=§",
            "flyctl secrets set A=§ B='§' --app x",
            "doppler secrets set NAME=§",
            "heroku config:set DB_PASSWORD=§",
            "az keyvault secret set --vault-name v --name n --value §",
            "aws secretsmanager create-secret --name n --secret-string §",
            "aws secretsmanager put-secret-value --secret-id n --secret-string '§'",
            "aws ssm put-parameter --name /a/b --type SecureString --value §",
            "aws ssm put-parameter --type=SecureString --name /a/b --value=§",
            "aws ssm put-parameter --name /a/db_password --value §",
            "kubectl create secret generic db '--from-literal=user=§'",
        ],
    );
    hides(
        "q1W2e3R4t5Y6u7I8o9P0aS",
        &[
            "heroku config:set NAME=§",
            "aws ssm put-parameter --name /a/b --value §",
        ],
    );
    keeps(&[
        "heroku config:set NODE_ENV=production",
        "aws ssm put-parameter --name /a/b --type String --value hello",
        "aws secretsmanager create-secret --secret-string file://x.json",
        "gh secret list",
        "gh pr create --body hello",
        "fly deploy --build-arg A=b",
        "doppler secrets get NAME",
    ]);
}

#[test]
fn more_programs_lose_the_password_they_take() {
    hides(
        "s3cr3t",
        &[
            "ssh-keygen -t ed25519 -N § -f k",
            "ssh-keygen -p -P § -N '§' -f k",
            "openssl passwd -6 §",
            "openssl passwd -6 -salt ab §",
            "usermod -p $(openssl passwd -1 §) bob",
            "bw unlock §",
            "bw unlock § --raw",
            "bw login me@x.io § --raw",
            "mc alias set s3 https://h ACCESS §",
            "sqlplus bob/§@db",
            "sqlplus -S bob/§ @script.sql",
            "sqlplus -S 'bob/§@//h:1521/x'",
            "psexec.py corp/bob:§@10.0.0.1 whoami",
            "secretsdump.py -just-dc bob:§@dc",
            "GetUserSPNs.py corp/bob:§ -dc-ip 10.0.0.1",
            "cargo login §",
            "cargo login --registry r §",
            "glab auth login -t §",
            "doctl auth init -t §",
            "tailscale up --authkey §",
            "tailscale up --auth-key=§",
            "poetry publish -u me -p §",
            "redis-cli AUTH §",
            "redis-cli -h h auth me §",
            "redis-cli -a § ping",
            "redis-cli config set requirepass §",
            "nmcli con modify home wifi-sec.psk §",
            "nmcli con add type wifi wifi-sec.key-mgmt wpa-psk wifi-sec.psk §",
            "nmcli dev wifi connect home psk §",
            "skopeo copy --src-creds me:§ docker://a dir:b",
        ],
    );
    hides("q1W2e3R4t5Y6u7I8o9P0aS", &["gem push -k § x.gem"]);
    keeps(&[
        "ssh-keygen -t ed25519 -C me@x",
        "ssh-keygen -t ed25519 -N '' -f k",
        "cargo login",
        "cargo login --registry r",
        "openssl passwd -6",
        "openssl passwd -6 -in pw.txt",
        "openssl passwd -6 -salt ab",
        "bw unlock",
        "bw unlock --passwordenv BW_PW",
        "bw login me@x.io",
        "mc alias list",
        "sqlplus / as sysdba",
        "sqlplus bob@db @dir/script.sql",
        "sqlplus /nolog @x/y.sql",
        "psexec.py -k corp/bob@10.0.0.1:445",
        "redis-cli get auth_times",
        "wpa_passphrase home",
        "rabbitmqctl add_user bob",
        "gem push -k github x.gem",
        "vault login -method userpass username=bob",
        "nmcli con modify home wifi-sec.key-mgmt wpa-psk wifi-sec.pmf 1",
    ]);
}

#[test]
fn here_documents_of_password_readers_are_hidden() {
    hides(
        "s3cr3t",
        &[
            "sudo -S apt update <<EOF\n§\nEOF",
            "sudo -S bash <<'EOF'\n§\nls -l\nEOF",
            "passwd bob <<-EOF\n\t§\n\tEOF\nls",
            "chpasswd <<EOF | tee log\n§\nEOF",
            "sudo openconnect --passwd-on-stdin vpn.x.io <<< §",
            "echo § | sudo openconnect --passwd-on-stdin vpn.x.io",
            "docker login -u me --password-stdin <<EOF\n§",
        ],
    );
    hides("bob:one\namy:two", &["chpasswd <<EOF\n§\nEOF\nls"]);
    keeps(&[
        "su - bob <<EOF\nls -l\nEOF",
        "cat <<EOF\nhello\nEOF",
        "sudo tee /etc/x <<EOF\nhello\nEOF",
    ]);
}

#[test]
fn more_addresses_lose_their_key() {
    hides(
        "aB3dE5fG7hJ9%2BkL1mN3pQ5rS7tU9%2FvW1xY3zA5%3D",
        &[
            "azcopy copy a 'https://x.blob.core.windows.net/c?sv=2022&sr=c&sig=§'",
            "curl \"https://x.blob.core.windows.net/c?sig=§&se=2030\"",
        ],
    );
    hides(
        "abcDEF123",
        &[
            "curl https://discordapp.com/api/webhooks/123/§",
            "curl https://discord.com/api/webhooks/123/§",
            "curl https://ptb.discord.com/api/webhooks/123/§",
            "curl https://x.io/?next=https://me:§@host/",
        ],
    );
    keeps(&["curl 'x.io/?key=hello%20world%20and%20more%20words'"]);
}

/// Looks at a megabyte of each text, in which every piece begins something. With a cost that grows
/// faster than the text one would take an hour, and the limit of the test runner ends it.
fn looks_at(shapes: &[(&str, &str)]) {
    for (head, piece) in shapes {
        let text = [*head, &piece.repeat(1_000_000 / piece.len())].concat();
        let found = tabsense_history::findings(text.as_bytes());
        let are_apart = found
            .windows(2)
            .all(|pair| pair[0].range.end <= pair[1].range.start);
        assert!(are_apart, "{piece}");
    }
}

#[test]
fn long_commands_are_looked_at() {
    looks_at(&[
        ("gcc ", "-pabc "),
        ("mysql ", "-px "),
        ("curl ", "-su a:b "),
        ("", "echo a |"),
        ("", "sudo -S x <<< y |"),
        ("", "chpasswd <<E\n"),
        ("redis-cli AUTH ", "x "),
    ]);
}

#[test]
fn long_fields_are_looked_at() {
    looks_at(&[
        ("", "a=b "),
        ("vault put ", "a=b "),
        ("x ", "pass=@"),
        ("x ", "pass=${"),
        ("x ", "key=key="),
        ("x ", "reset_token="),
        ("", "\"token\":\"@ "),
        ("", "alter user password '"),
        ("set password ", "x "),
    ]);
}

#[test]
fn long_tokens_are_looked_at() {
    looks_at(&[
        ("", "://a"),
        ("http://", "u:/p"),
        ("", "-eyJ"),
        ("", "-sk-"),
        ("", "xoxe."),
        ("", "bot1:"),
        ("", "-----BEGIN PRIVATE KEY-----\n"),
    ]);
}
