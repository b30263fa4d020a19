/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines that repair what `doctor` finds missing, for this distribution. */
#ifndef GRAINCTL_REPAIR_COMMANDS_H
#define GRAINCTL_REPAIR_COMMANDS_H

#include <stddef.h>

#define REPAIR_COMMAND_MAX 256

/* Each command may have two lines, and can be copied and run as it is. */
void repair_command__new_kernel(char out[REPAIR_COMMAND_MAX]);
void repair_command__install_libgomp(char out[REPAIR_COMMAND_MAX]);
/* Starts graind, as a service if there is one. */
void repair_command__start_graind(char out[REPAIR_COMMAND_MAX]);
/*
 * Gets a missing file of graind: by building it, from Debian's package if graind is below /usr, or else by
 * installing it.
 */
void repair_command__missing_file(char out[REPAIR_COMMAND_MAX]);
/* Makes the graind with this pid read its settings again. */
void repair_command__reload(char out[REPAIR_COMMAND_MAX], long pid);
/* Serves metrics on TCP. */
void repair_command__metrics(char out[REPAIR_COMMAND_MAX]);
/* Gives the service CAP_SYS_ADMIN, for kernels that require it for probes by perf events. */
void repair_command__perf_uprobes(char out[REPAIR_COMMAND_MAX]);

#endif
