#!/bin/bash
# Builds a Debian package of what `make install` installs: packaging/deb.sh [FOLDER]. Its path is the last line.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(realpath -m "${1:-target}")
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
architecture=$(dpkg --print-architecture)
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
[[ $version && $architecture && $multiarch ]]

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
umask 022

make install DESTDIR="$root" PREFIX=/usr LIBDIR="/usr/lib/$multiarch" ZSH_COMPLETIONS=/usr/share/zsh/vendor-completions
strip --strip-unneeded "$root"/usr/bin/* "$root/usr/lib/$multiarch"/*.so
mv "$root/usr/share/doc/mprof/CHANGELOG.md" "$root/usr/share/doc/mprof/changelog"
gzip -9n "$root"/usr/share/man/man*/* "$root/usr/share/doc/mprof/changelog"

# Debian's changelog says what is new in the package, not in the program.
date=$(date --rfc-email --utc --date="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}")
maintainer='The mprof developers <mprof@example.org>'
printf 'mprof (%s-1) unstable; urgency=medium\n\n  * Package of version %s.\n\n -- %s  %s\n' \
    "$version" "$version" "$maintainer" "$date" | gzip -9n >"$root/usr/share/doc/mprof/changelog.Debian.gz"

# A library to be preloaded: nothing links to it, so it has no version in its name.
mkdir -p "$root/usr/share/lintian/overrides"
printf 'mprof: %s\n' package-name-doesnt-match-sonames 'shared-library-lacks-version *' \
    >"$root/usr/share/lintian/overrides/mprof"

# The licences that Debian has are named, not copied (policy 12.5).
{
    echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
    echo 'Upstream-Name: mprof'
    echo
    echo 'Files: *'
    echo "Copyright: $(sed -n 's/^Copyright (c) //p' LICENSE-MIT | head -n 1)"
    echo 'License: Expat or Apache-2.0'
    echo
    echo 'License: Apache-2.0'
    echo ' See /usr/share/common-licenses/Apache-2.0.'
    echo
    echo 'License: Expat'
    sed -n '/^Permission/,$p' LICENSE-MIT | sed 's/^$/./; s/^/ /'
} >"$root/usr/share/doc/mprof/copyright"
rm "$root"/usr/share/doc/mprof/LICENSE-*

# The oldest C library that has all symbols which the files refer to.
needed=$(readelf -W --dyn-syms "$root"/usr/bin/* "$root/usr/lib/$multiarch"/*.so |
    grep -o '@GLIBC_[0-9.]*' | sed 's/@GLIBC_//' | sort -Vu | tail -n 1)

mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<CONTROL
Package: mprof
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: libc6 (>= $needed), libgcc-s1
Section: devel
Priority: optional
Homepage: https://example.org/mprof
Description: memory allocation profiler and leak finder
 mprof runs under any dynamically linked program, without a rebuild, and tells
 who allocates what and what leaks: exact counts, whole call chains, at a cost
 that one hardly notices. Leaks can fail a test, be suppressed in the formats of
 LeakSanitizer and Valgrind, and be reported as JUnit XML and SARIF.
CONTROL
printf 'activate-noawait ldconfig\n' >"$root/DEBIAN/triggers"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"

mkdir -p "$folder"
dpkg-deb --build --root-owner-group "$root" "$folder" >/dev/null
echo "$folder/mprof_$version-1_$architecture.deb"
