# names.awk: what the editor completes, as a module of the page: the fy_ names of the public headers, how each is
# called, and the first sentence of the comment that follows it. Usage: awk -f names.awk lib/ferry.h lib/ferry_*.h
function flush(    doc, n) {
    if (name != "" && !(name in seen)) {
        seen[name] = 1
        doc = words
        gsub(/[ \t]+/, " ", doc); sub(/^ /, "", doc); sub(/ $/, "", doc)
        if (match(doc, /[^.][.;] /)) doc = substr(doc, 1, RSTART)
        sub(/\.$/, "", doc)
        gsub(/\\/, "\\\\", doc); gsub(/"/, "\\\"", doc)
        printf "  [\"%s\", \"%s\", \"%s\"],\n", name, form, doc
    }
    name = words = ""
    state = 0 # 1: its comment may begin; 2: within it
}
function take(text,    end) {
    end = index(text, "*/")
    if (end) { words = words " " substr(text, 1, end - 1); flush() }
    else { words = words " " text; state = 2 }
}
BEGIN { print "// The fy_ names of Ferry: [name, how it is called, what it does]. Made by names.awk.\nexport const names = [" }
FNR == 1 { flush() }
state == 2 { sub(/^ *\*? ?/, ""); take($0); next }
/^#define fy_[a-z0-9_]*\(/ || /^[a-z].*[ *]fy_[a-z0-9_]*\(.*\);/ {
    flush()
    line = $0
    match(line, /fy_[a-z0-9_]*\(/)
    name = substr(line, RSTART, RLENGTH - 1)
    rest = substr(line, RSTART + RLENGTH)
    form = name "(" substr(rest, 1, index(rest, ")"))
    if (name ~ /_(at|of|end)$/) { name = ""; next } # internal
    state = 1
    at = index(line, "/*")
    if (at) take(substr(line, at + 2))
    next
}
state == 1 {
    at = index($0, "/*")
    if (/^ / && at) take(substr($0, at + 2))
    else if (!/^ /) flush()
}
END { flush(); print "];" }
