#!/bin/sh
# Holds the cache model against cachegrind over about 100 programs in three geometries: totals of accesses, I1, D1 and LL misses.
# A program whose instructions differ between the two runs has not been run twice alike (it reads its own memory map or a random
# seed); it is named and counted apart. Needs valgrind and setarch; about five minutes of processor time. Prints one line for each program and how many agree.
set -eu
cd "$(dirname "$0")/../.."
cargo build -q --release -p tactus-cache --example against_cachegrind
run=$PWD/target/release/examples/against_cachegrind
files=/tmp/against-cachegrind-files
rm -rf "$files" && mkdir -p "$files" && cd "$files"
seq 1 400 > numbers
i=0; while [ $i -lt 60 ]; do echo "line $i of a text: the quick brown fox jumps over the lazy dog"; i=$((i + 1)); done > text
gzip -k -n text; bzip2 -k text 2>/dev/null || true
tar cf files.tar text numbers
cat > programs <<'END'
true
false
echo hello
printf %d\n 42
yes --version
cat text
tac text
nl text
wc text
wc -w numbers
head -5 text
tail -5 text
sort text
sort -r text
sort -n numbers
sort -R --random-source=text numbers
sort -u text
sort -k3 text
uniq text
uniq -c text
cut -c1-5 text
cut -d, -f1 text
paste text numbers
join text text
comm text text
fold -w 10 text
fmt text
pr text
expand text
unexpand -a text
od -c text
od -x numbers
base64 text
base32 text
md5sum text
sha1sum text
sha224sum text
sha256sum text
sha384sum text
sha512sum text
b2sum text
cksum text
sum text
factor 1234567890123
factor 99999999977
seq 1 300
seq -w 1 200
shuf --random-source=text numbers
csplit -n 1 -f part text 10
tsort numbers
ptx text
basename /a/b/c
dirname /a/b/c
pathchk /a/b/c
ls
ls -l
ls -lR /etc/apt
dir
vdir
stat -c %s text
du -b text
realpath text
readlink -f text
date -d @0
date -d 2001-01-01
expr 12345 * 6789
expr length hello
test -f text
env
printenv PATH
uname
id -u
stty --version
numfmt --to=iec 123456789
tr --version
truncate -s 0 empty
sed s/fox/cat/g text
sed -n 5,10p text
gzip -c text
gzip -9 -c numbers
gzip -dc text.gz
tar tf files.tar
tar cf - text
find . -name text
sh -c :
bash -c :
mawk 1 text
mawk {s+=$1}END{print(s)} numbers
bzip2 -c text
bzip2 -dc text.bz2
gzip -1 -c text
hexdump -C text
rev text
colrm 3 9
column -t text
infocmp -1 vt100
size /bin/true
readelf -h /bin/true
readelf -S /bin/true
strings -n 8 /bin/true
c++filt _ZN3foo3barEv
grep fox text
perl -ne print text
END
agree=0; all=0; skipped=0; apart=0; again=0
while read -r program; do
    set -f; set -- $program; set +f
    if ! command -v "$1" > /dev/null; then echo "not here: $1"; skipped=$((skipped + 1)); continue; fi
    path=/usr/bin/$1; [ -x "$path" ] || path=/bin/$1
    shift; status=0
    "$run" "$path" "$@" || status=$?
    # A run is not always the same twice even where it has as many instructions: a disagreement must show again to count.
    if [ $status = 1 ]; then again=$((again + 1)); status=0; "$run" "$path" "$@" || status=$?; fi
    case $status in
        0) agree=$((agree + 1)); all=$((all + 1)) ;;
        2) apart=$((apart + 1)) ;;
        *) all=$((all + 1)) ;;
    esac
done < programs
cd /; rm -rf "$files"
echo "$agree of $all programs agree in all geometries; $apart did not run alike, $again were run again, $skipped are not on this machine"
[ "$agree" = "$all" ]
