/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 (FIPS 180-4, by libcrypto): what a cached plan is bound to cannot be imitated. */
#ifndef GRAIND_SHA256_H
#define GRAIND_SHA256_H

#include <stdint.h>

/* Of the whole file; 0 or a negative errno. */
int sha256__file(int fd, uint8_t digest[32]);

#endif
