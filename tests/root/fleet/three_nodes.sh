# SPDX-License-Identifier: BSD-2-Clause
# Sourced after root_lib.sh: three graind on machines that differ in their network, and the real Prometheus.

NETS=()
remove_nets() { for n in "${NETS[@]}"; do ip netns delete "$n" 2>/dev/null; done; }
# start_nodes WHAT PREFIX SUBNET PORT: starts each node in a network namespace PREFIX…. Its metrics are at
# SUBNET.1.2:9464 to SUBNET.3.2:9464, its state in $T/node1 to 3, its socket beside that, its process in NODE.
# Prometheus, which asks them each second, is at PORT. If that is not possible, WHAT is skipped and the test ends.
start_nodes()
{
	local what=$1 prefix=$2$$- subnet=$3 port=$4 i
	if ! command -v prometheus >/dev/null || ! ip netns list >/dev/null 2>&1; then
		skip "$what" "no prometheus or no network namespaces: run 'make deps'"
		exit 0
	fi
	trap 'remove_nets; cleanup' EXIT
	for i in 1 2 3; do
		ip netns add "$prefix$i" && NETS+=("$prefix$i")
		ip link add "$prefix$i" type veth peer name eth0 netns "$prefix$i"
		ip address add "$subnet.$i.1/30" dev "$prefix$i" && ip link set "$prefix$i" up
		ip -n "$prefix$i" address add "$subnet.$i.2/30" dev eth0 && ip -n "$prefix$i" link set eth0 up
		mkdir -p "$T/node$i"
		ip netns exec "$prefix$i" "$B/graind" --foreground --state-dir "$T/node$i" --socket "$T/node$i.sock" \
			--metrics "$subnet.$i.2:9464" >"$T/node$i.log" 2>&1 &
		NODE[i]=$!
		PIDS+=($!)
	done
	cat >"$T/prometheus.yml" <<-YML
		global: {scrape_interval: 1s, scrape_timeout: 1s}
		scrape_configs:
		  - job_name: graind
		    static_configs: [{targets: ['$subnet.1.2:9464', '$subnet.2.2:9464', '$subnet.3.2:9464']}]
	YML
	prometheus --config.file="$T/prometheus.yml" --storage.tsdb.path="$T/tsdb" \
		--web.listen-address="127.0.0.1:$port" --log.level=warn >"$T/prometheus.log" 2>&1 &
	PIDS+=($!)
}
# on NODE VERB ARG...: runs grainctl with the graind of that node
on() { local i=$1; shift; "$GRAINCTL" --socket "$T/node$i.sock" --state-dir "$T/node$i" "$@"; }
