#!/usr/bin/env bash
# Lets the MLX backend be built and run on x86-64 Linux, on MLX's CPU device.
#
#   tools/mlx-linux.sh [DIR]            prepares DIR (default: target/mlx-linux) and prints what to set
#   tools/mlx-linux.sh --run COMMAND…   prepares, then runs COMMAND with that set, such as
#   tools/mlx-linux.sh --run cargo test -p tabsense-model --features mlx --test golden
#
# The build script of mlx-sys is made for Apple's systems. Cargo lets the configuration replace the
# script of a package with `links = "mlx"` by what it would have printed, so this makes
#   libmlx    from the PyPI package mlx-cpu, in the version that the bindings' mlx-c names,
#   libmlxc   by compiling the mlx-c sources that mlx-sys carries,
#   bindings  with bindgen from the headers of mlx-c,
#   a shim    with a clock and half-float access that exist on Apple's systems only.
# A second run with the same versions does nothing. Debian's packages are installed if missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

run=()
if [ "${1:-}" = --run ]; then
    shift
    run=("$@")
    set --
fi
dir=$(mkdir -p "${1:-$root/target/mlx-linux}" && cd "${1:-$root/target/mlx-linux}" && pwd)

finish() {
    if [ ${#run[@]} -gt 0 ]; then
        # To cargo itself: nextest does not hand settings on to the cargo that it starts.
        export LD_LIBRARY_PATH="$dir/lib"
        case ${run[0]} in
        cargo) exec cargo --config "$dir/config.toml" "${run[@]:1}" ;;
        *) exec "${run[@]}" ;;
        esac
    fi
    echo "cargo --config $dir/config.toml … with LD_LIBRARY_PATH=$dir/lib"
    exit 0
}

# Where Cargo keeps the sources of mlx-sys, and which MLX its mlx-c is for.
sys=$(cd "$root" && cargo metadata --format-version 1 --all-features --filter-platform x86_64-unknown-linux-gnu |
    python3 -c '
import json, os, sys
found = [p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"] == "mlx-sys"]
print(os.path.dirname(found[0]) if found else "")')
[ -n "$sys" ] || { echo "mlx-linux.sh: mlx-sys is not among the dependencies" >&2; exit 1; }
mlxc=$sys/src/mlx-c
version=$(grep -oP 'GIT_TAG v\K[0-9.]+' "$mlxc/CMakeLists.txt" | head -n 1)
stamp="$(basename "$sys"), mlx $version, script $(cksum < "$0")"
[ "$(cat "$dir/stamp" 2>/dev/null)" = "$stamp" ] && finish
rm -f "$dir/stamp"
mkdir -p "$dir/lib" "$dir/work/include"

missing=()
for pair in cmake:cmake bindgen:bindgen g++:g++ python3:python3; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
done
[ -e /usr/include/fmt/format.h ] || missing+=(libfmt-dev)
compgen -G '/usr/lib/*/libclang-[0-9]*.so*' >/dev/null || missing+=(libclang-dev)
python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
if [ ${#missing[@]} -gt 0 ]; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

cd "$dir/work"
built="$(basename "$sys"), mlx $version"
if [ "$(cat built 2>/dev/null)" != "$built" ]; then
    # MLX itself.
    python3 -m pip download --quiet --no-deps --only-binary :all: "mlx-cpu==$version"
    python3 -m zipfile -e "$(ls mlx_cpu-"$version"-*.whl | head -n 1)" wheel
    find wheel/mlx/lib wheel/mlx_cpu.libs -name '*.so*' -exec cp {} "$dir/lib/" \;

    # Its C interface. Compilers before GCC 13 lack std::format, which a few messages use.
    cat > include/format_for_old_compilers.h <<'H'
#if defined(__cplusplus) && !__has_include(<format>)
#define FMT_HEADER_ONLY
#include <fmt/format.h>
namespace std { using ::fmt::format; }
#endif
H
    flags=""
    if ! echo '#include <format>' | g++ -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; then
        mkdir -p include/old
        : > include/old/format
        sed -i 's/ && !__has_include(<format>)//' include/format_for_old_compilers.h
        flags="-include $PWD/include/format_for_old_compilers.h -I$PWD/include/old"
    fi
    cmake -S "$mlxc" -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DMLX_C_BUILD_EXAMPLES=OFF \
        -DMLX_C_USE_SYSTEM_MLX=ON -DCMAKE_PREFIX_PATH="$PWD/wheel/mlx" -DCMAKE_C_COMPILER=gcc \
        -DCMAKE_CXX_COMPILER=g++ -DCMAKE_CXX_FLAGS="$flags" >cmake.log 2>&1 || { tail -n 20 cmake.log >&2; exit 1; }
    cmake --build build --parallel "$(nproc)" >>cmake.log 2>&1 || { tail -n 20 cmake.log >&2; exit 1; }
    cp build/libmlxc.so "$dir/lib/"
    rm -rf wheel build
    echo "$built" > built
fi

# What Linux lacks. Half-precision arrays are read back as single precision, never directly.
cat > shim.c <<'C'
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

uint64_t mach_approximate_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
void mlx_array_item_float16(void) { abort(); }
void mlx_array_item_bfloat16(void) { abort(); }
void mlx_array_data_float16(void) { abort(); }
void mlx_array_data_bfloat16(void) { abort(); }
C
gcc -O2 -fPIC -c shim.c -o shim.o
rm -f "$dir/lib/libmlxshim.a"
ar rcs "$dir/lib/libmlxshim.a" shim.o

# Bindings, with the half-float types of an Apple build.
cat > include/half.h <<'H'
#include <stdint.h>
#define HAS_FLOAT16
#define HAS_BFLOAT16
typedef uint16_t float16_t;
typedef uint16_t bfloat16_t;
H
for header in "$mlxc"/mlx/c/*.h; do echo "#include \"$header\""; done > all.h
# Older bindgen has to be told what newer takes for granted: a size is a usize.
bindgen all.h $(bindgen --help | grep -o -- '--size_t-is-usize' | head -n 1) --blocklist-function malloc --blocklist-function realloc -o "$dir/bindings.rs" -- \
    -I"$mlxc" -include include/half.h
# There float16_t is a struct of one field, and mlx-rs reads that field.
python3 - "$dir/bindings.rs" <<'P'
import sys
path = sys.argv[1]
text = open(path).read()
plain = "pub type float16_t = u16;"
assert plain in text, "bindgen no longer names float16_t as expected"
struct = "#[repr(C)]\n#[derive(Debug, Copy, Clone, Default)]\npub struct HalfFloat(pub u16);\npub type float16_t = HalfFloat;"
open(path, "w").write(text.replace(plain, struct))
P

host=$(rustc -vV | sed -n 's/^host: //p')
cat > "$dir/config.toml" <<T
[target.$host.mlx]
rustc-link-search = ["native=$dir/lib"]
rustc-link-lib = ["dylib=mlxc", "dylib=mlx", "static=mlxshim"]
rustc-env = { OUT_DIR = "$dir" }
T
echo "$stamp" > "$dir/stamp"
finish
