# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the scripts beside it: the guests, and what runs in them. A new
# guest is a case of guest(); a new test a line of one of the lists.

# What every guest runs; FEW=1 is set in guests, which are 10 to 20 times slower than the host.
GUEST_TESTS=(
	vm/test_numa.sh
	root/constructs/test_exact.sh
	root/record/test_scheduler.sh
	root/record/test_capture.sh
)
# What every guest runs in which the clock is not the number of instructions.
PC_TESTS=(
	root/record/test_counters.sh
	root/constructs/test_matrix.sh
)
# What depends on NUMA nodes or the number of CPUs.
NUMA_TESTS=(
	vm/test_accesses.sh
	root/record/test_numa_pages.sh
	root/record/test_rings.sh
	root/record/test_samples.sh
)
# The daemon and its users. They attach and detach often, which is slow with perf-event uprobes. What is only about
# requests and their answers runs under systemd on this machine's kernel, in seconds.
SERVICE_TESTS=(
	vm/test_service.sh
	vm/test_clock.sh
	root/shim/test_shim.sh
)
# What shows within minutes that graind works there.
SHORT_TESTS=(
	vm/test_numa.sh
)
# Those that take longest come first.
GUESTS=(linux-6.12 linux-6.1 linux-6.1-counters linux-6.12-service linux-arm64 host-kernel)
IMAGE_SIGNATURE=67726e64 # of the disk, by which the kernel finds its first partition

# guest NAME: sets what the guest is; B is the build directory.
#   ARCHITECTURE  Debian's name of it; there is one image for each
#   KERNEL        the series of the kernel; "" for a container on this machine's own
#   TESTS         what runs there
#   MACHINE       the options of QEMU that make the machine
#   NICE          of QEMU; 10 unless it is said
#   SYSTEM        "whole": all of what a system starts, devices found by udev; else what the tests need
guest()
{
	TESTS=("${GUEST_TESTS[@]}")
	case $1 in
	linux-6.1)
		ARCHITECTURE=amd64 KERNEL=6.1
		TESTS+=(root/record/test_numa_pages.sh vm/test_accesses.sh)
		pc
		;;
	linux-6.1-counters)
		ARCHITECTURE=amd64 KERNEL=6.1
		TESTS=("${PC_TESTS[@]}" vm/test_offline.sh)
		pc
		;;
	linux-6.12)
		ARCHITECTURE=amd64 KERNEL=6.12
		TESTS+=("${PC_TESTS[@]}" "${NUMA_TESTS[@]}")
		pc
		;;
	linux-6.12-service)
		ARCHITECTURE=amd64 KERNEL=6.12
		TESTS=("${SERVICE_TESTS[@]}")
		pc
		SYSTEM=whole
		;;
	linux-arm64)
		ARCHITECTURE=arm64 KERNEL=6.12
		TESTS+=(root/record/test_known_work.sh root/constructs/test_static_loops.sh)
		# Its clock stands still with it, so it may wait for the others.
		NICE=12
		virt
		;;
	host-kernel)
		ARCHITECTURE=$(dpkg --print-architecture) KERNEL=
		TESTS=(vm/test_service.sh vm/test_service_recording.sh vm/test_transcript.sh vm/test_perf_dropin.sh
			root/constructs/test_exact.sh root/attach/test_run_attach.sh root/graind/test_daemon_api.sh)
		SHORT_TESTS=(vm/test_service.sh vm/test_service_recording.sh vm/test_transcript.sh
			vm/test_perf_dropin.sh)
		;;
	*)
		echo "no guest is called '$1'; there are: ${GUESTS[*]}" >&2
		return 1
		;;
	esac
}

# guest_build BUILD_DIRECTORY: where the build for the guest is; that of another architecture in a folder of it
guest_build() {
	if [ "$ARCHITECTURE" = "$(dpkg --print-architecture)" ]; then echo "$1"; else echo "$1/$ARCHITECTURE"; fi
}

# One thread of QEMU runs all CPUs: with a thread for each, Linux 6.1 stood still at some boots and 6.12 panicked.
# Without what is slow to emulate (wide vectors, a fifth level of page tables) and what only hardens the kernel,
# the same tests take a fifth less of the host's time. What QEMU has translated of a program and its libraries serves
# the next one only at the same addresses: with fixed ones short programs take a third.
pc()
{
	MACHINE=(qemu-system-x86_64 -accel "tcg,thread=single,tb-size=512" -cpu max,la57=off,avx=off,avx2=off,erms=off
		-M "pc,usb=off,vmport=off")
	four_nodes
	# On a busy host the guest would measure its clock's frequency wrongly, several times over.
	APPEND="console=ttyS0 mitigations=off init_on_alloc=0 apparmor=0 selinux=0 audit=0 nowatchdog"
	APPEND+=" randomize_kstack_offset=off"
	APPEND+=" rcupdate.rcu_expedited=1 norandmaps tsc=reliable tsc_early_khz=$("$B/tests/tools/tsc_khz")"
}

# Instructions are counted where they are also the clock: each takes a nanosecond. The device tree has the distances;
# with ACPI tables the CPUs would belong to no node.
virt()
{
	MACHINE=(qemu-system-aarch64 -accel tcg,thread=single,tb-size=512 -icount shift=0,sleep=off
		-cpu "max,pauth-impdef=on" -M "virt,gic-version=3")
	four_nodes
	APPEND="console=ttyAMA0 mitigations=off norandmaps"
}

# Eight CPUs on four nodes with 1 GiB each. The distances differ, so that none is taken for another.
four_nodes()
{
	local node distance from to
	MACHINE+=(-smp 8,sockets=4,cores=2,threads=1 -m 4G)
	for node in 0 1 2 3; do
		MACHINE+=(-object "memory-backend-ram,id=node$node,size=1G"
			-numa "node,nodeid=$node,memdev=node$node,cpus=$((2 * node))-$((2 * node + 1))")
	done
	for distance in 0-1=16 0-2=22 0-3=28 1-2=28 1-3=22 2-3=16; do
		from=${distance%-*} to=${distance#*-}
		MACHINE+=(-numa "dist,src=$from,dst=${to%=*},val=${to#*=}")
	done
}
