#!/bin/bash
# Real mail on loopback for tests: Dovecot (IMAP, LMTP) and Postfix (mail in, submission), TLS from a CA of its own.
#
#   mail.sh install     installs what is needed (Debian packages; as root)
#   mail.sh run DIR     starts everything in DIR, prints facts as KEY=VALUE and a line "ready", and stops when its
#                       standard input ends, so that nothing outlives the test that started it
#
# Any name at lab.test is an account, with one password made at start. reject@lab.test answers 550, later@ 451, a mail
# over 1 MiB 552. The lab's own instances only: what the machine runs by itself stays as it is.
set -u

PACKAGES=(dovecot-imapd dovecot-lmtpd postfix openssl)

die() { printf 'mail.sh: %s\n' "$*" >&2; exit 1; }
fact() { printf '%s=%s\n' "$1" "$2"; }

do_install() {
  local missing=() package policy=/usr/sbin/policy-rc.d made=
  for package in "${PACKAGES[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  [ "$(id -u)" = 0 ] || die "not installed: ${missing[*]}; run this as root"
  export DEBIAN_FRONTEND=noninteractive
  # Installing must start no server.
  if [ ! -e $policy ]; then printf '#!/bin/sh\nexit 101\n' >$policy; chmod +x $policy; made=1; fi
  echo "postfix postfix/main_mailer_type select No configuration" | debconf-set-selections
  apt-get -qq -o DPkg::Lock::Timeout=300 update >/dev/null &&
    apt-get -qq -y -o DPkg::Lock::Timeout=600 --no-install-recommends install "${missing[@]}" >/dev/null
  local rc=$?
  [ -n "$made" ] && rm -f $policy
  [ $rc = 0 ] || die "apt-get install ${missing[*]} failed"
}

make_ca() {
  local c=$1
  mkdir -p "$c"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout "$c/ca.key" \
    -out "$c/ca.pem" -subj "/CN=workagent test CA" -addext "basicConstraints=critical,CA:TRUE" \
    -addext "keyUsage=critical,keyCertSign,cRLSign" 2>/dev/null &&
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$c/leaf.key" -out "$c/leaf.csr" \
      -subj "/CN=localhost" 2>/dev/null &&
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n' \
      >"$c/ext" &&
    openssl x509 -req -in "$c/leaf.csr" -CA "$c/ca.pem" -CAkey "$c/ca.key" -CAcreateserial -days 2 -extfile "$c/ext" \
      -out "$c/leaf.pem" 2>/dev/null || die "making certificates failed"
}

is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Sets PORTS to seven ports in a row on which nobody listens.
pick_ports() {
  local base port try
  for try in $(seq 50); do
    base=$((20000 + RANDOM % 12000))
    PORTS=()
    for port in $(seq $base $((base + 6))); do is_open "$port" && break; PORTS+=("$port"); done
    [ ${#PORTS[@]} = 7 ] && return 0
  done
  die "no free ports"
}

write_dovecot() {
  cat >"$D/dovecot.conf" <<X
protocols = imap lmtp
listen = 127.0.0.1
base_dir = $D/run
state_dir = $D/state
log_path = $D/dovecot.log
ssl = yes
ssl_cert = <$D/ca/leaf.pem
ssl_key = <$D/ca/leaf.key
disable_plaintext_auth = yes
auth_mechanisms = plain login
mail_location = maildir:$D/vmail/%u
mail_uid = $OWNER
mail_gid = $OWNER
first_valid_uid = 1
mail_max_userip_connections = 100
passdb {
  driver = static
  args = password=$PASSWORD
}
userdb {
  driver = static
  args = uid=$OWNER gid=$OWNER home=$D/vmail/%u allow_all_users=yes
}
namespace inbox {
  inbox = yes
  separator = /
  mailbox Sent {
    special_use = \Sent
    auto = subscribe
  }
}
service imap-login {
  inet_listener imap {
    port = ${PORTS[0]}
  }
  inet_listener imaps {
    port = ${PORTS[1]}
    ssl = yes
  }
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${PORTS[2]}
  }
}
service auth {
  inet_listener {
    address = 127.0.0.1
    port = ${PORTS[3]}
  }
}
X
}

write_postfix() {
  local pc=$D/pf/conf
  mkdir -p "$pc/dynamicmaps.cf.d" "$D/pf/data" "$D/pf/spool"
  cp /etc/postfix/postfix-files "$pc/" 2>/dev/null
  : >"$pc/dynamicmaps.cf"
  chown postfix "$D/pf/data"
  cat >"$pc/main.cf" <<X
compatibility_level = 3.6
queue_directory = $D/pf/spool
data_directory = $D/pf/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mail.lab.test
mydestination =
local_recipient_maps =
virtual_mailbox_domains = lab.test
virtual_transport = lmtp:inet:127.0.0.1:${PORTS[2]}
default_transport = error:no outside mail from the lab
mynetworks = 127.0.0.0/8
smtpd_tls_cert_file = $D/ca/leaf.pem
smtpd_tls_key_file = $D/ca/leaf.key
smtpd_tls_security_level = may
smtpd_tls_auth_only = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:${PORTS[3]}
smtpd_client_connection_rate_limit = 0
maillog_file = $D/pf/mail.log
maillog_file_prefixes = $D
smtpd_recipient_restrictions = check_recipient_access inline:{ { reject@lab.test = 550 5.1.1 no such user here } { later@lab.test = 451 4.7.1 try again later } }, permit_sasl_authenticated, reject_unauth_destination
smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
message_size_limit = 1048576
X
  cat >"$pc/master.cf" <<X
127.0.0.1:${PORTS[4]} inet n - n - - smtpd
127.0.0.1:${PORTS[5]} inet n - n - - smtpd -o smtpd_tls_security_level=encrypt -o smtpd_sasl_auth_enable=yes -o smtpd_client_restrictions=permit_sasl_authenticated,reject
127.0.0.1:${PORTS[6]} inet n - n - - smtpd -o smtpd_tls_wrappermode=yes -o smtpd_sasl_auth_enable=yes -o smtpd_client_restrictions=permit_sasl_authenticated,reject
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
lmtp unix - - n - - lmtp
error unix - - n - - error
retry unix - - n - - error
showq unix n - n - - showq
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
X
  postfix -c "$pc" check >"$D/pf/check.log" 2>&1
}

stop() {
  trap - EXIT
  [ -n "${DOVECOT:-}" ] && kill "$DOVECOT" 2>/dev/null
  [ -n "${POSTFIX:-}" ] && postfix -c "$D/pf/conf" stop >/dev/null 2>&1
  wait 2>/dev/null
  rm -rf "$D"
}

wait_open() {
  local try
  for try in $(seq 200); do is_open "$1" && return 0; sleep 0.1; done
  tail -n 5 "$D"/*.log "$D"/pf/*.log >&2
  die "nothing listens on port $1"
}

do_run() {
  [ "$(id -u)" = 0 ] || die "the servers need root"
  D=${1:?a directory}
  # It is removed in the end.
  [ -z "$(ls -A "$D" 2>/dev/null)" ] || die "$D is not empty"
  mkdir -p "$D/vmail" "$D/run" "$D/state"
  chmod 755 "$D"
  OWNER=nobody
  id nobody -g -n | grep -qx nobody || OWNER=mail
  chown "$OWNER" "$D/vmail"
  pick_ports
  make_ca "$D/ca"
  chmod 644 "$D"/ca/leaf.*
  PASSWORD=$(openssl rand -hex 12)
  write_dovecot
  write_postfix
  trap stop EXIT
  dovecot -F -c "$D/dovecot.conf" </dev/null >"$D/start.log" 2>&1 &
  DOVECOT=$!
  setsid postfix -c "$D/pf/conf" start-fg </dev/null >"$D/pf/start.log" 2>&1 &
  POSTFIX=$!
  wait_open "${PORTS[1]}"
  wait_open "${PORTS[6]}"
  fact IMAP_PORT "${PORTS[0]}"
  fact IMAPS_PORT "${PORTS[1]}"
  fact SMTP_PORT "${PORTS[4]}"
  fact SUBMISSION_PORT "${PORTS[5]}"
  fact SUBMISSIONS_PORT "${PORTS[6]}"
  fact CA "$D/ca/ca.pem"
  fact PASSWORD "$PASSWORD"
  fact VMAIL "$D/vmail"
  echo ready
  cat >/dev/null
}

case "${1:-}" in
  install) do_install ;;
  run) shift; do_run "$@" ;;
  *) die "usage: mail.sh install | run DIR" ;;
esac
