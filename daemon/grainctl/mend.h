/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines that mend what `doctor` finds missing, for this distribution. */
#ifndef GRAINCTL_MEND_H
#define GRAINCTL_MEND_H

#include <stddef.h>

#define MEND_MAX 256

/* Each may have two lines; copied as it is, it runs. */
void mend__new_kernel(char out[MEND_MAX]);
void mend__install_libgomp(char out[MEND_MAX]);
/* To have graind running: as the service where there is one. */
void mend__start_graind(char out[MEND_MAX]);
/* To get a file of graind's own that is not there: built, from Debian's package, which has it
 * below /usr, or installed. */
void mend__missing_file(char out[MEND_MAX]);
/* To have the settings read again by the graind with that number. */
void mend__reload(char out[MEND_MAX], long pid);
/* To serve metrics on TCP. */
void mend__metrics(char out[MEND_MAX]);
/* To give the service CAP_SYS_ADMIN, for kernels that want it for probes by perf events. */
void mend__perf_uprobes(char out[MEND_MAX]);

#endif
