# shellcheck shell=bash disable=SC2034  # what is unused here is used where this is sourced
# Sourced by every script here: where things are, what they are called, and how a process is started and stopped.
#
# PURSER_STATE  folder of everything that is written (default: .local in the clone). Two states never share a
#               port, a process or a file, so several clones and several states can run at the same time.
# Rules: nothing outside the state folder and .build/ is written; the machine's own services are never touched;
# a process is only ever stopped by its pid, and only if it carries this state's mark in its environment.
set -euo pipefail
umask 077  # everything written may hold a password or personal data

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
scripts=$root/infra/scripts
state=${PURSER_STATE:-$root/.local}
mkdir -p "$state"
state=$(cd "$state" && pwd -P)
export PURSER_STATE=$state
logs=$state/logs
mkdir -p "$logs" "$state/secrets" "$state/run"

say() { printf '%s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

# secret NAME: prints the password called NAME, made at first use (160 random bits, letters and digits only, so that
# it needs no quoting in a URL, a conninfo or SQL).
secret() {
    local file=$state/secrets/$1
    [ -s "$file" ] || head -c 20 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$file"
    cat "$file"
}

# free_ports COUNT: prints the first of COUNT neighbouring unused TCP ports. Below 32768, where Linux takes the ports
# of outgoing connections from; random, so that two clones starting at once do not pick the same.
free_ports() {
    local count=$1 used base port attempt
    used=$(awk 'FNR > 1 { sub(/.*:/, "", $2); print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null | sort -u)
    for attempt in {1..200}; do
        base=$((20000 + (((RANDOM << 15) | RANDOM) % (12000 / count)) * count))
        for ((port = base; port < base + count; port++)); do
            ! grep -qx "$(printf '%04X' "$port")" <<<"$used" || continue 2
        done
        printf '%s\n' "$base"
        return
    done
    fail "no $count free ports in 20000-32000 after $attempt attempts"
}

# port_is_open PORT: something accepts connections there on 127.0.0.1.
port_is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# ports_are_free BASE COUNT: nothing accepts connections on these neighbouring ports.
ports_are_free() {
    local port
    for ((port = $1; port < $1 + $2; port++)); do ! port_is_open "$port" || return 1; done
}

# ports_file FILE COUNT: prints the base port remembered in FILE; picks a new one if there is none or it is in use by
# somebody else. Only to be called while our own process does not run.
ports_file() {
    local file=$1 count=$2 base='' offset
    [ ! -s "$file" ] || base=$(<"$file")
    if [ -n "$base" ]; then
        # A listener that is dying still accepts for a moment; clients keep calling where they found it last time.
        wait_until 10 ports_are_free "$base" "$count" || true
        for ((offset = 0; offset < count; offset++)); do
            ! port_is_open $((base + offset)) || { base=''; break; }
        done
    fi
    [ -n "$base" ] || { base=$(free_ports "$count"); printf '%s\n' "$base" >"$file"; }
    printf '%s\n' "$base"
}

# start_detached PIDFILE LOG COMMAND…: own session, no inherited descriptors (a lock of the caller would be held for
# ever), no stdin, output appended to LOG; the pid (COMMAND must exec, not fork) goes to PIDFILE.
start_detached() {
    local pidfile=$1 log=$2
    shift 2
    (
        for descriptor in "/proc/$BASHPID/fd"/*; do
            descriptor=${descriptor##*/}
            [ "$descriptor" -le 2 ] || eval "exec $descriptor>&-" 2>/dev/null || true
        done
        exec setsid "$@"
    ) </dev/null >>"$log" 2>&1 &
    local pid=$!
    printf '%s\n' "$pid" >"$pidfile"
    disown
    wait_until 5 has_begun "$pid" || true
}

# has_begun PID: the command has replaced the shell that started it (or has ended already).
has_begun() { is_ours "$1" || [ ! -e "/proc/$1" ]; }

# is_ours PID: the process lives and was started for this state (pids are reused; a zombie counts as gone).
is_ours() {
    [ -n "${1:-}" ] && [ -r "/proc/$1/environ" ] || return 1
    { tr '\0' '\n' <"/proc/$1/environ" | grep -qxF "PURSER_STATE=$state"; } 2>/dev/null
}

# pid_in FILE: prints the pid in FILE if that process is ours.
pid_in() {
    local pid=''
    [ ! -s "$1" ] || read -r pid <"$1" || true
    ! is_ours "$pid" || printf '%s\n' "$pid"
}

# wait_until SECONDS COMMAND…: polls 20 times a second.
wait_until() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.05
    done
}

is_gone() { ! is_ours "$1"; }

# stop_pid PID SIGNAL SECONDS: asks, waits, then kills.
stop_pid() {
    [ -n "$1" ] && is_ours "$1" || return 0
    kill "-$2" "$1" 2>/dev/null || true
    wait_until "$3" is_gone "$1" || { say "pid $1 did not stop in $3 s: killed"; kill -KILL "$1" 2>/dev/null || true; }
    wait_until 5 is_gone "$1" || fail "pid $1 cannot be killed"
}

# own_swift_folders: Swift keeps caches and temporary files in .build instead of HOME and /tmp (all but empty links in
# ~/.swiftpm, for which SwiftPM asks the user database).
own_swift_folders() {
    mkdir -p "$root/.build/home" "$root/.build/tmp"
    export HOME=$root/.build/home TMPDIR=$root/.build/tmp
    unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
}

# lock NAME: one script at a time starts or stops NAME in this state; released when the script ends.
lock() {
    exec {lock_descriptor}>"$state/run/$1.lock"
    flock -w 120 "$lock_descriptor" || fail "another script has been holding $state/run/$1.lock for 120 s"
}

# --- The deployment on one machine: names, in one place -------------------------------------------------------------

# Order of start; stopped the other way round. A service's executable is purser-<name> (program below knows the exception),
# its settings PURSER_<NAME>_….
services=(verification intake granting reconciliation gateway)
# Second copies that a drill starts besides, to kill one and see the other go on: named as their service, and 2.
copies=(reconciliation2)
# Services with a schema of their own: schema <name>, login role purser_<name>.
schemas=(verification intake granting reconciliation)
# Broker users: each service's, and the operator's tool.
broker_users=(gateway verification granting intake reconciliation control)
database_name=${PURSER_DATABASE_NAME:-purser}
programs=$root/.build/${PURSER_CONFIGURATION:-debug}
apps=$state/apps  # what services read: the apps' files and the keys they name
root_certificate=$state/simulator/root.pem

# program NAME: the executable of a service, of the simulator, or of the operator's tool (control).
program() {
    case $1 in
        simulator) printf '%s\n' "$programs/appstore-simulator" ;;
        control) printf '%s\n' "$programs/purser" ;;
        intake) printf '%s\n' "$programs/purser-notification-intake" ;;
        *) printf '%s\n' "$programs/purser-${1%2}" ;;
    esac
}

# port_of NAME: the port people and scripts ask a process at: clients' HTTP for gateway and simulator, else its metrics.
port_of() {
    local base
    base=$(cat "$state/run/ports" 2>/dev/null) || fail "nothing was started in $state yet: run make up"
    case $1 in
        gateway) echo "$((base + 0))" ;;
        simulator) echo "$((base + 1))" ;;
        gateway-metrics) echo "$((base + 2))" ;;
        verification) echo "$((base + 3))" ;;
        granting) echo "$((base + 4))" ;;
        intake) echo "$((base + 5))" ;;
        reconciliation) echo "$((base + 6))" ;;
        reconciliation2) echo "$((base + 7))" ;;
        *) fail "no such process: $1" ;;
    esac
}

# readiness_of NAME: the URL that answers 200 once the process does its work.
readiness_of() {
    case $1 in
        gateway) echo "http://127.0.0.1:$(port_of gateway-metrics)/readyz" ;;
        *) echo "http://127.0.0.1:$(port_of "$1")/readyz" ;;
    esac
}

# role_conninfo ROLE: a libpq connection string of a role on the deployment's database.
# PURSER_VIA_DATABASE  another port to go by: a proxy that a drill puts before the database
role_conninfo() {
    printf 'host=127.0.0.1 port=%s dbname=%s user=%s password=%s' \
        "${PURSER_VIA_DATABASE:-$(<"$state/database/port")}" "$database_name" "$1" "$(secret "database-$1")"
}

# amqp_port: the port of this state's broker.
amqp_port() { echo "$(($(<"$state/broker/ports") + 1))"; }

# user_url USER: the AMQP URL of a broker user.
# PURSER_VIA_BROKER  another port to go by, as above
user_url() {
    printf 'amqp://%s:%s@127.0.0.1:%s/%%2F' "$1" "$(secret "broker-$1")" "${PURSER_VIA_BROKER:-$(amqp_port)}"
}
