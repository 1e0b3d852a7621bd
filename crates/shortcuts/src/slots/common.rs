//! Words that are no value: what people put around the thing they mean, in six languages.
//!
//! Lists of words between blanks, as they are too long for anything else.

/// Whether a list has a word.
pub(super) fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// The length of the longest word of a list that a text starts with; 0 for none.
pub(super) fn longest(list: &str, text: &str) -> usize {
    let starts = list
        .split_ascii_whitespace()
        .filter(|known| text.starts_with(known));
    starts.map(str::len).max().unwrap_or(0)
}

/// Articles, prepositions, politeness, adverbs: they may stand inside a text, and mean nothing at
/// its ends.
pub(super) const SMALL: &str = "\
    a an the this that these those my our your its some any to of in on at for from with by as \
    into onto inside under below within about and or please pls plz thanks now just again \
    quickly really still here everywhere away off up out down is are be do does can could would \
    will should hey ok okay let let's lets what what's which where where's how there then so \
    also too asap it them one all every everything anything something whatever ones der die das \
    den dem des ein eine einen einem einer bitte mal im auf am nach von vom mit zu zum zur aus \
    für und oder hier jetzt alle allen aller alles ist sind es mein meine meinen dieses diesen \
    diesem doch schnell noch wie wo was welche le la les l un une du de d dans sur sous pour \
    avec par à au aux et ou svp stp ici mon ma mes ce cet cette tout tous est moi maintenant \
    vite que qui el los las lo una unos del al en con por para y o favor aquí mi mis este esta \
    ese esa todos todas ahora ya se";

/// Those of them behind which stands where something is: two texts, not one.
pub(super) const PLACES: &str = "\
    in on at from under below inside within into im auf aus von dans sous sur en 在 里 里面 里头 \
    里边 中 から";

/// Who does it: behind them stands a verb, whichever it is.
pub(super) const WHO: &str = "\
    i i'm i've i'd we you he she they who ich wir du sie er wer je j'ai nous vous tu il elle on \
    yo nosotros quién who's don't dont can't cannot not never nicht pas no";

/// What one does, and what kind of thing one does it to.
pub(super) const PLAIN: &str = "\
    kill end terminate quit stop close exit force shut halt abort install reinstall get fetch \
    add put set remove uninstall delete drop purge erase rid search find look lookup locate grep \
    seek show list print display see view tell give check read open start restart reload run \
    launch bounce use using uses used make create new build switch checkout change go move merge \
    rebase commit tag encode decode enter exec attach log logs follow tail need want like have \
    try help download upload explain named called name title titled containing contains contain \
    matching match mention mentions mentioning saying says say message app apps application \
    applications program programs process processes task job package packages software tool \
    command commands library lib crate module dependency container containers image images \
    service services daemon server branch branches file files folder folders directory \
    directories dir text word words string phrase line lines code project source repo repository \
    codebase computer machine system disk network user thing stuff page manual man docs \
    documentation history terminal shell version instance old latest last current other another \
    same whole running stuck frozen hung hanging hangs unresponsive crashed crashing broken dead \
    slow annoying stupid damn forgot forgotten wrong right good big remote local nothing \
    everyone somebody someone responding working work works going gone beende beenden beend töte \
    töten schieß schieße stoppe stoppen stopp halte schließe schließen installiere installieren \
    installier hole hol füge hinzu entferne entfernen deinstalliere deinstallieren lösche \
    löschen lösch suche suchen such finde finden durchsuche zeige zeigen zeig mir mich starte \
    starten neu erstelle erstellen wechsle wechseln anlegen lege leg öffne brauche brauch \
    programm programme prozess anwendung paket pakete dienst datei dateien ordner verzeichnis \
    wort wörter zweig rechner namens genannt heißt ab bibliothek projekt enthalten enthält alten \
    alte alter tue tuer termine terminer arrête arrêter ferme fermer quitte quitter installe \
    installer installez ajoute ajouter supprime supprimer désinstalle désinstaller enlève \
    enlever retire cherche chercher recherche rechercher trouve trouver montre montrer affiche \
    afficher relance relancer redémarre redémarrer démarre lance crée créer nouveau nouvelle \
    passe va veux faut besoin logiciel processus appli paquet fichier fichiers dossier dossiers \
    mot mots texte conteneur branche nommé nommée nommés appelé appelée nom contenant vieux \
    vieille ancien ancienne mata matar termina terminar cierra cerrar para parar detén detener \
    instala instalar agrega agregar añade añadir elimina eliminar quita quitar borra borrar \
    desinstala desinstalar busca buscar encuentra encontrar muestra mostrar muéstrame reinicia \
    reiniciar inicia crea crear nuevo nueva cambia cambiar quiero necesito programa proceso \
    aplicación paquete servicio archivo archivos carpeta carpetas fichero palabra texto \
    contenedor rama llamado llamada llamados nombre código proyecto contengan contienen viejo \
    vieja";

/// Programs that people name before what they shall do: "npm install lodash". Alone they are a name.
pub(super) const TOOLS: &str = "\
    apt apt-get brew dnf yum pacman zypper apk npm pnpm yarn pip pip3 cargo docker podman git \
    systemctl kubectl";

/// Programs that the titles of shortcuts name as well: they are names all the same.
pub(super) const PROGRAMS: &str = "python python3 node java ruby ssh sqlite sqlite3 vim emacs";

/// The kinds of things that a name may stand beside: "the web container", "service nginx".
pub(super) const THINGS: &str = "\
    app program process package container image service daemon branch crate library command user \
    tag network folder directory programm prozess paket dienst zweig ordner programme processus \
    appli paquet conteneur branche dossier programa proceso aplicación paquete servicio \
    contenedor rama carpeta";

/// The same without blanks; longer ones before those they begin with. The first are particles that may
/// stand inside a text.
pub(super) const WIDE_SMALL: &str = "\
    的 了 吧 呢 吗 啊 在 有 里面 里头 里边 里 中 上 下 所有 全部 这个 那个 这 那 一个 个 和 を \
    の に で は が と から まで";

/// The same for what one does and to what; longer ones hide those they begin with.
pub(super) const WIDE_PLAIN: &str = "\
    帮我 帮忙 麻烦 请 给我 我想要 我想 我要 我 把 将 一下 一个 下 安装上 安装 装一下 装上 装个 \
    装 卸载掉 卸载 删除掉 删除 删掉 删了 删 搜索一下 搜索 搜一下 搜 查找 查一下 查 寻找 找一下 \
    找出 找到 找找 找 杀掉 杀死 杀了 干掉 强制结束 强制退出 强制 结束掉 结束 终止 停止 停掉 停了 \
    停 关闭 关掉 关了 关 重启一下 重启 重新启动 启动 新建 创建 建立 建 切换到 切换 切到 合并 \
    打开 显示 查看 看看 看一下 看 列出 进入 使用 怎么用 怎么 编码 解码 名字叫 名字 名称 叫做 叫 \
    名为 命名为 包含 含有 写着 提到 软件包 软件 程序 进程 应用 服务 容器 镜像 分支 文件夹 文件名 \
    文件 目录 代码 项目 工程 内容 电脑 本机 系统 卡死 卡住 没反应 旧 新 依赖 库 命令 用包管理器 \
    用 从 到 インストールして インストール アンインストール 検索して 検索 探して 探す 見つけて \
    終了して 終了 強制 止めて 停止して 再起動して 再起動 削除して 削除 消して 起動して 起動 \
    作って 作成して 作成 表示して 表示 見せて という名前 という 名前 ファイル フォルダ プロセス \
    プログラム アプリ パッケージ サービス コンテナ ブランチ コード ください お願い したい して \
    する を含む 含む 新しい 入れて 切り替えて 切り替え";
