# SPDX-License-Identifier: BSD-2-Clause
# The one list of packages: what building needs, what the tests need on top, and what real guests and building for
# another processor need.
BUILD_PACKAGES := gcc g++ clang llvm make pkg-config bpftool libbpf-dev libelf-dev libdw-dev \
	libcapstone-dev libzstd-dev zlib1g-dev libmicrohttpd-dev libcurl4-openssl-dev libssl-dev \
	libdeflate-dev libjansson-dev libsystemd-dev libgraphviz-dev libhwloc-dev libotf2-trace-dev \
	libpapi-dev libpfm4-dev libconfuse-dev libsubid-dev libncurses-dev libnuma-dev
TEST_PACKAGES := cmake openmpi-bin libopenmpi-dev debhelper lintian zsh prometheus \
	python3-prometheus-client python3-pyte iproute2 gfortran graphicsmagick sumaclust fasttree patchelf \
	python3-numpy libopenblas0-openmp r-base-core binutils clang-format libclang-rt-14-dev libomp-dev \
	graphviz systemd musl-tools python3 python3-networkx python3-selenium chromium chromium-driver \
	librsvg2-bin curl procps util-linux strace otf2-tools protobuf-compiler python3-protobuf
# Programs for the other processor are compiled and planned, too.
TEST_PACKAGES += $(patsubst arm64,gcc-x86-64-linux-gnu,$(patsubst amd64,gcc-aarch64-linux-gnu,$(NATIVE)))
VM_PACKAGES := qemu-system-x86 qemu-system-arm e2fsprogs systemd-container
