/* SPDX-License-Identifier: BSD-2-Clause */
/* The paths and environment variables by which graind, grainctl and libgrainshim find each other. */
#ifndef GRAIND_DEFAULTS_H
#define GRAIND_DEFAULTS_H

#define DEFAULT_STATE_DIR "/var/lib/graind"
#define DEFAULT_SOCKET "/run/graind/graind.sock"
#define DEFAULT_CONFIG "/etc/graind/graind.conf"

/* Appended to graind's socket path to get the path of the socket for libgrainshim. */
#define SHIM_SOCKET_SUFFIX ".shim"
#define ENV_SHIM_SOCKET "GRAIND_SHIM_SOCKET"

#define ENV_STATE_DIR "GRAIND_STATE_DIR"
#define ENV_SOCKET "GRAIND_SOCKET"
/* GRAIND_OFF=1 in a program's environment: it must not be profiled. */
#define ENV_OFF "GRAIND_OFF"
#define ENV_CONFIG "GRAIND_CONFIG"

#endif
