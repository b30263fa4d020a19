// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/elf/elf_image.h"

#include "uprobes/elf/elf_notes.h"
#include "uprobes/elf/elf_unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FUNCTIONS 1000000
#define MAX_GOT_ENTRIES 1000000

/*
 * Relocation types of a processor: those that bind a GOT entry to a function, and those that add the load
 * address.
 */
struct machine {
	uint16_t e_machine;
	uint32_t jump_slot, glob_dat, relative;
};

static const struct machine machines[] = {
	{EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_RELATIVE},
	{EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_RELATIVE},
};

struct got_entry {
	uint64_t address;
	const char *name;
};

struct elf_image {
	const struct machine *machine;
	int fd;
	Elf *elf;
	const uint8_t *raw;
	size_t raw_size;
	GElf_Phdr *segments;
	size_t segment_count;
	const uint8_t *text;
	uint64_t text_address;
	size_t text_size;
	const uint8_t *whole_text; /* .text before it was narrowed */
	uint64_t whole_address;
	size_t whole_size;
	struct elf_function *functions;
	size_t function_count, function_room;
	uint32_t *by_name; /* indices into functions */
	unsigned int seen; /* elf_runtime__seen() of all names, combined */
	char **given;	   /* names that were added and are not in the file */
	size_t given_count;
	const uint8_t *frames; /* .eh_frame */
	uint64_t frames_address;
	size_t frames_size;
	struct elf_extent *extents;
	size_t extent_count;
	struct got_entry *got;
	size_t got_count;
	char build_id[ELF_BUILD_ID];
	uint64_t build_id_at; /* its offset in the file */
};

void elf_image__close(struct elf_image *image)
{
	if (!image)
		return;
	if (image->elf)
		elf_end(image->elf);
	if (image->raw)
		munmap((void *)image->raw, image->raw_size);
	if (image->fd >= 0)
		close(image->fd);
	free(image->segments);
	free(image->functions);
	free(image->by_name);
	for (size_t i = 0; i < image->given_count; i++)
		free(image->given[i]);
	free(image->given);
	free(image->extents);
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

/* Loads the functions of a symbol table, in place of any earlier ones. */
static int load_functions(struct elf_image *image, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	struct elf_function *functions;

	if (!data || n > MAX_FUNCTIONS)
		return -ENOEXEC;
	functions = realloc(image->functions, (n + 1) * sizeof(*functions));
	if (!functions)
		return -ENOMEM;
	image->functions = functions;
	image->function_room = n + 1;
	image->function_count = 0;
	image->seen = 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Sym sym;
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(image->elf, header->sh_link, sym.st_name);
		/* A name with a dot is a part that the compiler split off a function. */
		if (!name || !*name || strchr(name, '.'))
			continue;
		image->functions[image->function_count++] =
			(struct elf_function){.name = name, .address = sym.st_value, .size = sym.st_size};
		image->seen |= elf_runtime__seen(name);
	}
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
		if (GELF_R_TYPE(rela.r_info) != image->machine->jump_slot &&
		    GELF_R_TYPE(rela.r_info) != image->machine->glob_dat)
			continue;
		if (!gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &sym))
			continue;
		name = elf_strptr(image->elf, symbols_header.sh_link, sym.st_name);
		if (name && *name)
			image->got[image->got_count++] = (struct got_entry){rela.r_offset, name};
	}
	return 0;
}

/* Whether the name is that of a function of the runtime. */
static bool is_of_runtime(const char *name)
{
	static const char *const prefixes[] = {"GOMP_", "gomp_", "__kmp", "GOACC_", "goacc_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return elf_runtime__seen(name) != 0;
}

static void window_on_runtime(struct elf_image *image)
{
	uint64_t first = UINT64_MAX, end = 0;

	for (size_t i = 0; i < image->function_count; i++) {
		const struct elf_function *f = &image->functions[i];

		if (!is_of_runtime(f->name) || f->address < image->text_address ||
		    f->address - image->text_address >= image->text_size)
			continue;
		if (f->address < first)
			first = f->address;
		if (f->address + f->size > end)
			end = f->address + f->size;
	}
	if (first < end)
		elf_image__set_window(image, first, end - first);
}

static void load_contents(struct elf_image *image, const GElf_Shdr *h, const char *name)
{
	const uint8_t *at;

	if (h->sh_offset > image->raw_size || h->sh_size > image->raw_size - h->sh_offset)
		return;
	at = image->raw + h->sh_offset;
	if (strcmp(name, ".text") == 0) {
		image->text = image->whole_text = at;
		image->text_address = image->whole_address = h->sh_addr;
		image->text_size = image->whole_size = h->sh_size;
	} else if (strcmp(name, ".eh_frame") == 0) {
		image->frames = at;
		image->frames_address = h->sh_addr;
		image->frames_size = h->sh_size;
	}
}

static int load_sections(struct elf_image *image)
{
	Elf_Scn *section = NULL, *dynamic = NULL, *all = NULL;
	GElf_Shdr h, dynamic_header, all_header;
	size_t names;
	int r = 0;

	if (elf_getshdrstrndx(image->elf, &names))
		return -ENOEXEC;
	while (r == 0 && (section = elf_nextscn(image->elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &h))
			return -ENOEXEC;
		name = elf_strptr(image->elf, names, h.sh_name);
		if (h.sh_type == SHT_DYNSYM && !dynamic) {
			dynamic = section;
			dynamic_header = h;
		} else if (h.sh_type == SHT_SYMTAB && !all) {
			all = section;
			all_header = h;
		} else if (h.sh_type == SHT_RELA) {
			r = load_relocations(image, section, &h);
		} else if (h.sh_type == SHT_NOTE && !image->build_id[0]) {
			elf_notes__build_id(section, image->build_id, &image->build_id_at);
		} else if (name && (h.sh_type == SHT_PROGBITS || h.sh_type == SHT_X86_64_UNWIND)) {
			load_contents(image, &h, name);
		}
	}
	if (r == 0 && dynamic)
		r = load_functions(image, dynamic, &dynamic_header);
	if (r == 0 && all && elf_image__runtime(image) == ELF_RUNTIME_NONE) {
		r = load_functions(image, all, &all_header);
		if (r == 0 && elf_image__runtime(image) != ELF_RUNTIME_NONE)
			window_on_runtime(image);
	}
	if (r == 0)
		r = elf_image__named(image);
	if (r == 0 && image->got_count)
		qsort(image->got, image->got_count, sizeof(*image->got), got_by_address);
	return r;
}

/*
 * Mapped shared: in a private mapping, the kernel sets the breakpoints of uprobes that are for all
 * processes.
 */
static bool map_file(struct elf_image *image, off_t size)
{
	void *at = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, image->fd, 0) : MAP_FAILED;

	if (at == MAP_FAILED)
		return false;
	image->raw = at;
	image->raw_size = (size_t)size;
	image->elf = elf_memory(at, (size_t)size);
	return image->elf != NULL;
}

int elf_image__open(const char *path, struct elf_image **out, struct uprobes_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r;

	if (fd < 0)
		return fail(err, -errno, path, strerror(errno));
	r = elf_image__open_fd(fd, path, out, err);
	close(fd);
	return r;
}

static const struct machine *machine_of(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].e_machine == machine)
			return &machines[i];
	return NULL;
}

int elf_image__open_fd(int fd, const char *path, struct elf_image **out, struct uprobes_error *err)
{
	struct elf_image *image = calloc(1, sizeof(*image));
	GElf_Ehdr header;
	struct stat st;
	int r;

	if (!image)
		return -ENOMEM;
	image->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (image->fd < 0 || fstat(image->fd, &st)) {
		r = fail(err, -errno, path, strerror(errno));
		goto out;
	}
	r = -ENOEXEC;
	if (!S_ISREG(st.st_mode) || elf_version(EV_CURRENT) == EV_NONE || !map_file(image, st.st_size) ||
	    elf_kind(image->elf) != ELF_K_ELF || !gelf_getehdr(image->elf, &header)) {
		fail(err, r, path, "not an ELF file");
		goto out;
	}
	image->machine = machine_of(header.e_machine);
	if (!image->machine || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_ident[EI_CLASS] != ELFCLASS64) {
		fail(err, r, path, "not an ELF file of x86-64 or aarch64; other machines are not supported");
		goto out;
	}
	if ((r = load_segments(image)) || (r = load_sections(image))) {
		fail(err, r, path, "damaged ELF file");
		goto out;
	}
	*out = image;
	return 0;
out:
	elf_image__close(image);
	return r;
}

uint16_t elf_image__machine(const struct elf_image *image)
{
	return image->machine->e_machine;
}

uint64_t elf_image__build_id_at(const struct elf_image *image)
{
	return image->build_id_at;
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

enum elf_runtime elf_image__runtime(const struct elf_image *image)
{
	return elf_runtime__of(image->seen);
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct elf_function *functions = ctx;

	return strcmp(functions[*(const uint32_t *)a].name, functions[*(const uint32_t *)b].name);
}

int elf_image__named(struct elf_image *image)
{
	if (!image->function_count)
		return 0;
	qsort(image->functions, image->function_count, sizeof(*image->functions), by_address);
	free(image->by_name);
	image->by_name = calloc(image->function_count, sizeof(*image->by_name));
	if (!image->by_name)
		return -ENOMEM;
	for (size_t i = 0; i < image->function_count; i++)
		image->by_name[i] = (uint32_t)i;
	qsort_r(image->by_name, image->function_count, sizeof(*image->by_name), by_name, image->functions);
	return 0;
}

int elf_image__add_name(struct elf_image *image, const char *name, uint64_t address, uint64_t size)
{
	char *copy, **given = reallocarray(image->given, image->given_count + 1, sizeof(*given));

	if (!given)
		return -ENOMEM;
	image->given = given;
	if (image->function_count == image->function_room) {
		size_t room = image->function_room ? 2 * image->function_room : 64;
		struct elf_function *functions = reallocarray(image->functions, room, sizeof(*functions));

		if (!functions)
			return -ENOMEM;
		image->functions = functions;
		image->function_room = room;
	}
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	image->given[image->given_count++] = copy;
	image->functions[image->function_count++] = (struct elf_function){copy, address, size};
	image->seen |= elf_runtime__seen(copy);
	return 0;
}

void elf_image__set_window(struct elf_image *image, uint64_t address, uint64_t size)
{
	uint64_t skip = address > image->text_address ? address - image->text_address : 0;
	uint64_t end = address + size - image->text_address;

	if (skip >= image->text_size || address + size <= image->text_address)
		return;
	if (end < image->text_size)
		image->text_size = end;
	image->text += skip;
	image->text_address += skip;
	image->text_size -= skip;
}

size_t elf_image__extents(struct elf_image *image, const struct elf_extent **out)
{
	if (!image->extents && image->frames)
		image->extent_count = elf_unwind__extents(image->frames, image->frames_size,
							  image->frames_address, &image->extents);
	*out = image->extents;
	return image->extent_count;
}

bool elf_image__contains(const struct elf_image *image, const char *text)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const GElf_Phdr *p = &image->segments[i];

		if (!(p->p_flags & PF_W) && memmem(image->raw + p->p_offset, p->p_filesz, text, strlen(text)))
			return true;
	}
	return false;
}

/* Index of the first function at the address, or the end of the list. */
static size_t first_at(const struct elf_image *image, uint64_t address)
{
	size_t low = 0, high = image->function_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (image->functions[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const char *elf_image__outside_name(const struct elf_image *image, uint64_t address)
{
	const char *best = NULL;

	if (address - image->text_address < image->text_size)
		return NULL;
	for (size_t i = first_at(image, address);
	     i < image->function_count && image->functions[i].address == address; i++)
		if (!best || *best == '_')
			best = image->functions[i].name;
	return best;
}

const struct elf_function *elf_image__find(const struct elf_image *image, const char *name)
{
	size_t low = 0, high = image->by_name ? image->function_count : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(image->functions[image->by_name[mid]].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (!image->by_name || low == image->function_count ||
	    strcmp(image->functions[image->by_name[low]].name, name) != 0)
		return NULL;
	return &image->functions[image->by_name[low]];
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

bool elf_image__relative(const struct elf_image *image, uint64_t address, uint64_t *out)
{
	Elf *elf = image->elf;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		size_t count;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		count = data ? data->d_size / sizeof(Elf64_Rela) : 0;
		for (size_t i = 0; i < count && i < INT32_MAX; i++) {
			GElf_Rela rela;

			if (!gelf_getrela(data, (int)i, &rela))
				break;
			if (rela.r_offset != address || GELF_R_TYPE(rela.r_info) != image->machine->relative)
				continue;
			*out = (uint64_t)rela.r_addend;
			return true;
		}
	}
	return false;
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

uint64_t elf_image__address(const struct elf_image *image, uint64_t offset)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const GElf_Phdr *p = &image->segments[i];

		if (p->p_flags & PF_X && offset >= p->p_offset && offset - p->p_offset < p->p_filesz)
			return p->p_vaddr + (offset - p->p_offset);
	}
	return UINT64_MAX;
}

Elf *elf_image__elf(const struct elf_image *image)
{
	return image->elf;
}

void elf_image__widen(struct elf_image *image)
{
	image->text = image->whole_text;
	image->text_address = image->whole_address;
	image->text_size = image->whole_size;
}
