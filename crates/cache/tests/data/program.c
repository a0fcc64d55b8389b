/* No library: sorts, walks a matrix by rows and columns, recurses. */
static int a[400]; static short m[24][24];
static int fib(int n) { return n < 2 ? n : fib(n-1) + fib(n-2); }
static long sys_exit(int c){ long r; __asm__ volatile("syscall":"=a"(r):"a"(60),"D"(c):"rcx","r11","memory"); return r; }
void _start(void) {
  unsigned x = 1; int s = 0;
  for (int i = 0; i < 110; i++) { x = x*1103515245u+12345u; *(int*)((char*)a + (x>>16)%1590) += i; }
  for (int i = 0; i < 24; i++) for (int j = 0; j < 24; j+=5) { m[j][i] += m[i][j]; s += m[j][i]; }
  s += fib(5);
  sys_exit(s & 1);
}
