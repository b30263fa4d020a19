/* SPDX-License-Identifier: BSD-2-Clause */
/* Where graind and grainctl meet unless told otherwise. */
#ifndef GRAIND_DEFAULTS_H
#define GRAIND_DEFAULTS_H

#define DEFAULT_STATE_DIR "/var/lib/graind"
#define DEFAULT_SOCKET "/run/graind/graind.sock"
#define DEFAULT_CONFIG "/etc/graind/graind.conf"

/* Behind the name of the socket: where libgrainshim finds graind. */
#define SHIM_SOCKET_SUFFIX ".shim"
#define ENV_SHIM_SOCKET "GRAIND_SHIM_SOCKET"

#define ENV_STATE_DIR "GRAIND_STATE_DIR"
#define ENV_SOCKET "GRAIND_SOCKET"
/* In the environment of a program: it is not to be profiled. */
#define ENV_OFF "GRAIND_OFF"
#define ENV_CONFIG "GRAIND_CONFIG"

#endif
