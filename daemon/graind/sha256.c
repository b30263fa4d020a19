// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/sha256.h"

#include <errno.h>
#include <openssl/evp.h>
#include <unistd.h>

int sha256__file(int fd, uint8_t digest[32])
{
	EVP_MD_CTX *state = EVP_MD_CTX_new();
	uint8_t buffer[16384];
	off_t at = 0;
	ssize_t got;
	int error = state && EVP_DigestInit_ex(state, EVP_sha256(), NULL) ? 0 : -ENOMEM;

	while (!error && (got = pread(fd, buffer, sizeof(buffer), at)) != 0) {
		if (got > 0) {
			at += got;
			error = EVP_DigestUpdate(state, buffer, (size_t)got) ? 0 : -ENOMEM;
		} else if (errno != EINTR) {
			error = -errno;
		}
	}
	if (!error && !EVP_DigestFinal_ex(state, digest, NULL))
		error = -ENOMEM;
	EVP_MD_CTX_free(state);
	return error;
}
