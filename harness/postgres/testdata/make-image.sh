#!/bin/sh
# Makes a container image with a Postgres server out of Debian packages, for the tests of the container path on a
# machine that reaches no image registry. Does nothing if the image is there. Takes about a minute otherwise.
#
#   make-image.sh IMAGE
#
# Needs root, a running Docker and a Debian whose apt works; packages come from wherever apt gets them. The image
# honours what harness/postgres uses of the official image: POSTGRES_USER, POSTGRES_PASSWORD, port 5432, and a command
# that begins with "postgres", followed by the server's arguments.
set -eu
image=$1

if docker image inspect "$image" >/dev/null 2>&1; then
	exit 0
fi

# Two test binaries may come here at once: the second waits, and finds the image made.
exec 9<"$0"
flock 9
if docker image inspect "$image" >/dev/null 2>&1; then
	exit 0
fi

if ! command -v debootstrap >/dev/null; then
	apt-get install -y --no-install-recommends debootstrap >&2
fi
. /etc/os-release
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $VERSION_CODENAME" 'Component: main' | head -n 1)
if [ -z "$mirror" ]; then
	echo "make-image.sh: apt knows no source for $VERSION_CODENAME main: check its sources and run apt-get update" >&2
	exit 1
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=postgresql "$VERSION_CODENAME" "$root" "$mirror" >&2

# What the server does not need makes up most of the size.
rm -rf "$root"/var/cache/apt "$root"/var/lib/apt/lists "$root"/usr/share/doc "$root"/usr/share/man \
	"$root"/usr/lib/*/libLLVM* "$root"/usr/share/locale "$root"/var/lib/postgresql/*
chroot "$root" install -d -o postgres -g postgres -m 0755 /var/lib/postgresql

cat >"$root/usr/local/bin/entrypoint" <<'ENTRYPOINT'
#!/bin/sh
set -eu
if [ "${1:-}" = postgres ]; then shift; fi
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
data=/var/lib/postgresql/data
if [ ! -s "$data/PG_VERSION" ]; then
	umask 077
	printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
	"$bin/initdb" -D "$data" -U "${POSTGRES_USER:-postgres}" --pwfile=/tmp/password --auth=scram-sha-256 --no-sync
	rm /tmp/password
	echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
fi
exec "$bin/postgres" -D "$data" -c 'listen_addresses=*' "$@"
ENTRYPOINT
chmod 0755 "$root/usr/local/bin/entrypoint"

tar -C "$root" -c . | docker import \
	--change 'ENTRYPOINT ["/usr/local/bin/entrypoint"]' \
	--change 'CMD ["postgres"]' \
	--change 'USER postgres' \
	--change 'EXPOSE 5432' \
	- "$image" >&2
