#!/bin/sh
# site.sh [FOLDER]: the built page as a site for any host of static files, by default in build/site. A service worker of the page
# adds the headers for threads where the host does not.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-build/site}
[ -e build/studio/index.html ] || sh scripts/studio.sh
rm -rf "$folder"
mkdir -p "$folder"
cp -r build/studio/. "$folder"
touch "$folder/.nojekyll"
echo "$folder: $(du -sk "$folder" | cut -f 1) kB; copy it to a host, or try it: python3 -m http.server -d $folder"
