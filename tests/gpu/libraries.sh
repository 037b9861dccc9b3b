# Sourced by run and compare, in their folder: its programs find the libraries that lie in it. $work is a folder that
# the caller removes.
mkdir "$work/lib"
for packed in lib/*.gz; do gunzip -c "$packed" >"$work/lib/$(basename "$packed" .gz)"; done
export LD_LIBRARY_PATH=$work/lib:$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
