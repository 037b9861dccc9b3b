/* 03 | fails | exit status 3 | the code of its grandparent, which judges it, overwritten through /proc */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    char path[64];
    int ferry = 0;
    if (!getppid()) return 3; // in a namespace of its own it does not even see them
    sprintf(path, "/proc/%d/stat", getppid());
    if (fscanf(fopen(path, "r"), "%*d %*s %*c %d", &ferry) != 1) return 1;
    sprintf(path, "/proc/%d/mem", getppid());
    if (open(path, O_RDWR) >= 0) return 2; // its supervisor
    sprintf(path, "/proc/%d/mem", ferry);
    return open(path, O_RDWR) < 0 ? 3 : 2; // pwrite would be next
}
