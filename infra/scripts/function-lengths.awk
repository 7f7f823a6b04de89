# Prints functions, initialisers and accessors-as-functions longer than `limit` lines: from the line of `func` or `init`
# to its closing brace. Reads Swift well enough for that: comments, strings, raw identifiers and parameter lists are
# skipped; braces within parentheses (default closures) do not open a body.
function strip(line) {
    if (in_text) {
        if (!sub(/^.*"""#*/, "", line)) return ""
        in_text = 0
    }
    gsub(/\\\\/, "", line); gsub(/\\"/, "", line)
    if (line !~ /"""/) gsub(/"[^"]*"/, "", line)
    gsub(/`[^`]*`/, "name", line)
    sub(/\/\/.*/, "", line)
    if (line ~ /"""/) { in_text = 1; sub(/#*""".*/, "", line) }
    return line
}
FNR == 1 { depth = 0; parens = 0; pending = 0; open_functions = 0; in_text = 0 }
{
    line = strip($0)
    if (parens == 0 && line ~ /(^|[^A-Za-z0-9_.])(func [^ ]|init[?]?[(<])/) {
        pending = FNR
        title = line
        sub(/^[ \t]+/, "", title)
        pending_depth = depth
    }
    count = split(line, characters, "")
    for (i = 1; i <= count; i++) {
        c = characters[i]
        if (c == "(") parens++
        else if (c == ")" && parens > 0) parens--
        else if (c == "{") {
            if (pending && parens == 0) {
                open_functions++
                start[open_functions] = pending; level[open_functions] = depth; named[open_functions] = title
                pending = 0
            }
            saved[depth] = parens; parens = 0
            depth++
        } else if (c == "}") {
            depth--
            parens = saved[depth]
            if (pending && depth < pending_depth) pending = 0
            if (open_functions && level[open_functions] == depth) {
                length_in_lines = FNR - start[open_functions] + 1
                if (length_in_lines > limit)
                    print FILENAME ":" start[open_functions] ": " length_in_lines " lines: " substr(named[open_functions], 1, 80)
                open_functions--
            }
        }
    }
}
