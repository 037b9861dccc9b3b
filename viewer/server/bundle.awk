# bundle.awk: the page's modules as one script: a browser asks for it once, and a page in one file needs no server.
# Usage: awk -v roots='www build/www' -f bundle.awk main.js      the first root that has a module gives it
#
# Each module becomes a function that is called once, after those of the modules that it imports:
#
#     const m3 = (() => { const { a, b: c } = m1; const units = m2; ... return { x, y }; })();
#
# It knows the forms that the page uses, and refuses all others: `import { a, b as c } from './x.js';`, `import * as d
# from './x.js';` and `export` before function, const and class, each on a line that begins so. No module imports itself
# by way of another.
function refuse(path, what) {
    print "www/" path ": " what > "/dev/stderr"
    exit 1
}
function resolve(path, to,    folder) { # "./x.js" or "../stage/x.js", seen from "panes/y.js"
    folder = path
    sub(/[^\/]*$/, "", folder)
    sub(/^\.\//, "", to)
    while (sub(/^\.\.\//, "", to)) sub(/[^\/]*\/$/, "", folder)
    return folder to
}
function imported(path, line,    to, names, parts, n, i) { # an import, as a declaration
    if (!match(line, /'\.\.?\/[^']+';$/)) refuse(path, "an import in another form: " line)
    to = resolve(path, substr(line, RSTART + 1, RLENGTH - 3))
    names = line
    sub(/^import /, "", names)
    sub(/ from '.*$/, "", names)
    i = module(to)
    if (sub(/^\* as /, "", names)) return "const " names " = m" i ";"
    if (names !~ /^\{.*\}$/) refuse(path, "an import in another form: " line)
    n = split(substr(names, 2, length(names) - 2), parts, /[ ,]+/)
    for (i = 1; i <= n; i++) {
        if (parts[i] == "as") i++
        else if (parts[i] != "" && !((to, parts[i]) in exports)) refuse(path, to " exports no " parts[i])
    }
    gsub(/ as /, ": ", names)
    return "const " names " = m" number[to] ";"
}
function exported(path, line) { # the name that it declares
    if (!match(line, /^export (async function\*? |function\*? |const |class )[A-Za-z0-9_$]+/)) refuse(path, "an export in another form: " line)
    line = substr(line, RSTART, RLENGTH)
    sub(/^.* /, "", line)
    exports[path, line] = 1
    return line
}
function module(path,    i, file, line, head, body, names) { # its number
    if (path in number) return number[path]
    if (path in open) refuse(path, "it imports itself by way of others")
    open[path] = 1
    for (i = 1; i <= count_of_roots; i++) if ((getline line < (file = root[i] "/" path)) > 0) break
    if (i > count_of_roots) refuse(path, "there is no such file")
    do {
        if (line ~ /^import /) { head = head imported(path, line); line = "" }
        else if (line ~ /^export /) { names = names (names == "" ? "" : ", ") exported(path, line); line = substr(line, 8) }
        gsub(/<\/script/, "<\\/script", line) # a script element would end there
        body = body line "\n"
    } while ((getline line < file) > 0)
    close(file)
    number[path] = count++
    text[number[path]] = "// " path "\nconst m" number[path] " = (() => {" head body "return { " names " };\n})();\n"
    return number[path]
}
BEGIN {
    count_of_roots = split(roots, root, " ")
    module(ARGV[1])
    for (i = 0; i < count; i++) printf "%s", text[i]
    exit
}
