// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/elf_image.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FUNCTIONS 1000000
#define MAX_GOT_ENTRIES 1000000

struct got_entry {
	uint64_t address;
	const char *name;
};

struct elf_image {
	int fd;
	Elf *elf;
	const uint8_t *raw;
	size_t raw_size;
	GElf_Phdr *segments;
	size_t segment_count;
	const uint8_t *text;
	uint64_t text_address;
	size_t text_size;
	struct elf_function *functions;
	size_t function_count;
	struct got_entry *got;
	size_t got_count;
	char build_id[129];
};

void elf_image__close(struct elf_image *image)
{
	if (!image)
		return;
	if (image->elf)
		elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	free(image->segments);
	free(image->functions);
	free(image->got);
	free(image);
}

static int fail(struct uprobes_error *err, int code, const char *path, const char *what)
{
	if (err)
		snprintf(err->text, sizeof(err->text), "%s: %s", path, what);
	return code;
}

static int by_address(const void *a, const void *b)
{
	const struct elf_function *fa = a, *fb = b;

	if (fa->address != fb->address)
		return fa->address < fb->address ? -1 : 1;
	return strcmp(fa->name, fb->name);
}

static int got_by_address(const void *a, const void *b)
{
	const struct got_entry *ga = a, *gb = b;

	return ga->address < gb->address ? -1 : ga->address > gb->address;
}

static int load_segments(struct elf_image *image)
{
	size_t n;

	if (elf_getphdrnum(image->elf, &n) || n == 0 || n > 4096)
		return -ENOEXEC;
	image->segments = calloc(n, sizeof(*image->segments));
	if (!image->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(image->elf, (int)i, &p))
			return -ENOEXEC;
		if (p.p_type != PT_LOAD)
			continue;
		if (p.p_offset > image->raw_size || p.p_filesz > image->raw_size - p.p_offset)
			return -ENOEXEC;
		image->segments[image->segment_count++] = p;
	}
	return image->segment_count ? 0 : -ENOEXEC;
}

static int load_functions(struct elf_image *image, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	if (!data || n > MAX_FUNCTIONS)
		return -ENOEXEC;
	image->functions = calloc(n + 1, sizeof(*image->functions));
	if (!image->functions)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Sym sym;
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(image->elf, header->sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		image->functions[image->function_count++] =
			(struct elf_function){.name = name, .address = sym.st_value, .size = sym.st_size};
	}
	if (image->function_count)
		qsort(image->functions, image->function_count, sizeof(*image->functions), by_address);
	return 0;
}

static int load_relocations(struct elf_image *image, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *symbols_section = elf_getscn(image->elf, header->sh_link);
	Elf_Data *data = elf_getdata(section, NULL), *symbols;
	size_t n = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	GElf_Shdr symbols_header;
	struct got_entry *got;

	if (!data || !symbols_section || !gelf_getshdr(symbols_section, &symbols_header) ||
	    n > MAX_GOT_ENTRIES)
		return 0;
	symbols = elf_getdata(symbols_section, NULL);
	if (!symbols)
		return 0;
	got = realloc(image->got, (image->got_count + n + 1) * sizeof(*got));
	if (!got)
		return -ENOMEM;
	image->got = got;
	for (size_t i = 0; i < n; i++) {
		GElf_Rela rela;
		GElf_Sym sym;
		const char *name;

		if (!gelf_getrela(data, (int)i, &rela))
			break;
		if (GELF_R_TYPE(rela.r_info) != R_X86_64_JUMP_SLOT &&
		    GELF_R_TYPE(rela.r_info) != R_X86_64_GLOB_DAT)
			continue;
		if (!gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &sym))
			continue;
		name = elf_strptr(image->elf, symbols_header.sh_link, sym.st_name);
		if (name && *name)
			image->got[image->got_count++] = (struct got_entry){rela.r_offset, name};
	}
	return 0;
}

static void load_build_id(struct elf_image *image, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t offset = 0, name_at, desc_at;
	GElf_Nhdr note;

	while (data && (offset = gelf_getnote(data, offset, &note, &name_at, &desc_at)) > 0) {
		const uint8_t *desc = (const uint8_t *)data->d_buf + desc_at;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_descsz > 64)
			continue;
		for (size_t i = 0; i < note.n_descsz; i++)
			snprintf(image->build_id + 2 * i, 3, "%02x", desc[i]);
		return;
	}
}

static int load_sections(struct elf_image *image)
{
	Elf_Scn *section = NULL;
	size_t names;
	int r = 0;

	if (elf_getshdrstrndx(image->elf, &names))
		return -ENOEXEC;
	while (r == 0 && (section = elf_nextscn(image->elf, section))) {
		GElf_Shdr h;
		const char *name;

		if (!gelf_getshdr(section, &h))
			return -ENOEXEC;
		name = elf_strptr(image->elf, names, h.sh_name);
		if (h.sh_type == SHT_DYNSYM && !image->functions)
			r = load_functions(image, section, &h);
		else if (h.sh_type == SHT_RELA)
			r = load_relocations(image, section, &h);
		else if (h.sh_type == SHT_NOTE && !image->build_id[0])
			load_build_id(image, section);
		else if (h.sh_type == SHT_PROGBITS && name && strcmp(name, ".text") == 0 &&
			 h.sh_offset <= image->raw_size && h.sh_size <= image->raw_size - h.sh_offset) {
			image->text = image->raw + h.sh_offset;
			image->text_address = h.sh_addr;
			image->text_size = h.sh_size;
		}
	}
	if (r == 0 && image->got_count)
		qsort(image->got, image->got_count, sizeof(*image->got), got_by_address);
	return r;
}

int elf_image__open(const char *path, struct elf_image **out, struct uprobes_error *err)
{
	struct elf_image *image = calloc(1, sizeof(*image));
	GElf_Ehdr header;
	struct stat st;
	int r;

	if (!image)
		return -ENOMEM;
	image->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (image->fd < 0 || fstat(image->fd, &st)) {
		r = fail(err, -errno, path, strerror(errno));
		goto out;
	}
	r = -ENOEXEC;
	if (!S_ISREG(st.st_mode) || elf_version(EV_CURRENT) == EV_NONE ||
	    !(image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL)) ||
	    elf_kind(image->elf) != ELF_K_ELF || !gelf_getehdr(image->elf, &header)) {
		fail(err, r, path, "not an ELF file");
		goto out;
	}
	if (header.e_machine != EM_X86_64) {
		fail(err, r, path, "not an x86-64 ELF file; other machines are not supported");
		goto out;
	}
	image->raw = (const uint8_t *)elf_rawfile(image->elf, &image->raw_size);
	if (!image->raw || (r = load_segments(image)) || (r = load_sections(image))) {
		fail(err, r, path, "damaged ELF file");
		goto out;
	}
	*out = image;
	return 0;
out:
	elf_image__close(image);
	return r;
}

const char *elf_image__build_id(const struct elf_image *image)
{
	return image->build_id;
}

const uint8_t *elf_image__text(const struct elf_image *image, uint64_t *address, size_t *size)
{
	*address = image->text_address;
	*size = image->text_size;
	return image->text;
}

size_t elf_image__function_count(const struct elf_image *image)
{
	return image->function_count;
}

const struct elf_function *elf_image__function(const struct elf_image *image, size_t index)
{
	return &image->functions[index];
}

const struct elf_function *elf_image__find(const struct elf_image *image, const char *name)
{
	for (size_t i = 0; i < image->function_count; i++)
		if (strcmp(image->functions[i].name, name) == 0)
			return &image->functions[i];
	return NULL;
}

const char *elf_image__got_name(const struct elf_image *image, uint64_t address)
{
	struct got_entry key = {.address = address};
	struct got_entry *found;

	if (!image->got_count)
		return NULL;
	found = bsearch(&key, image->got, image->got_count, sizeof(key), got_by_address);
	return found ? found->name : NULL;
}

const uint8_t *elf_image__bytes(const struct elf_image *image, uint64_t address, size_t size)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const GElf_Phdr *p = &image->segments[i];

		if (address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz &&
		    size <= p->p_filesz - (address - p->p_vaddr))
			return image->raw + p->p_offset + (address - p->p_vaddr);
	}
	return NULL;
}

uint64_t elf_image__file_offset(const struct elf_image *image, uint64_t address)
{
	const uint8_t *at = elf_image__bytes(image, address, 1);

	return at ? (uint64_t)(at - image->raw) : UINT64_MAX;
}
