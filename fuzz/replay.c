/* SPDX-License-Identifier: MIT
 *
 * replay.c - a main for a fuzz harness, for any compiler: runs it over the
 * files and folders that it is given.
 *
 *     scan_replay fuzz/corpus/scan crash-1234 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The block has exactly the file's size, so that a sanitizer sees its end. */
static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        goto failed;
    size = ftell(file);
    data = size < 0 ? NULL : malloc(size > 0 ? (size_t)size : 1);
    if (data == NULL || fseek(file, 0, SEEK_SET) != 0)
        goto failed;
    if (fread(data, 1, (size_t)size, file) != (size_t)size)
        goto failed;
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 1;
failed:
    printf("%s: cannot be read\n", path);
    if (file != NULL)
        fclose(file);
    free(data);
    return -1;
}

/* The number of files that ran; -1 if one could not be read. */
static int replay_path(const char *path)
{
    char name[4096];
    struct dirent *entry;
    DIR *folder = opendir(path);
    int ran = 0, one;

    if (folder == NULL)
        return replay_file(path);
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        one = replay_path(name);
        ran = one < 0 || ran < 0 ? -1 : ran + one;
    }
    closedir(folder);
    return ran;
}

int main(int argc, char **argv)
{
    int i, ran = 0, one;

    for (i = 1; i < argc; i++) {
        one = replay_path(argv[i]);
        if (one < 0)
            return 1;
        ran += one;
    }
    printf("%d inputs\n", ran);
    return ran == 0;
}
