# What the scripts of the examples share: bash functions, for a script in the folder of an example.

# Stop unless all of these commands are there.
need() {
  local tool
  for tool in "$@"; do
    if ! command -v "$tool" >/dev/null; then
      echo "This example needs the command '$tool', which is not found." >&2
      exit 1
    fi
  done
}

# Read the arguments of a script, `[--ranks N] [build folder]`. Set `ranks`, to the first argument of
# this function if they name no number, `folder`, and `launch`, the words before a program.
read_arguments() {
  ranks=$1 launch=(env)
  shift
  if [[ "${1:-}" == --ranks ]]; then
    ranks=${2:-}
    shift $(($# > 1 ? 2 : 1))
  fi
  if [[ $# -gt 1 || "${1:-}" == -* || "${1:-}" =~ ^[0-9]+$ ]]; then
    echo "Usage: run [--ranks N] [build folder]" >&2
    exit 2
  fi
  if [[ ! $ranks =~ ^[1-9][0-9]*$ ]]; then
    echo "The number of ranks must be 1 or more, not '$ranks'." >&2
    exit 2
  fi
  folder=${1:-build}
  if ((ranks > 1)); then
    launch=(mpirun --oversubscribe -n "$ranks")
  fi
}

# Make a folder to build in, and set `build` to its path. Set `for_make` to what make calls it, which
# takes no spaces, in the folder of an infrastructure: a checkout may be where there are some.
begin_build() {
  local root
  root=$(cd -P ../../../external/.. && pwd)
  mkdir -p "$1/transformed"
  build=$(cd -P "$1" && pwd)
  for_make=$build
  if [[ $build == "$root"/* ]]; then
    for_make=../..${build#"$root"}
  fi
  if [[ $for_make =~ [[:space:]] ]]; then
    echo "The path of the folder to build in must be without spaces, for make: '$build'." >&2
    exit 2
  fi
  rm -f "$build"/transformed/*.f90
}

# Open MPI refuses to be run by root, as in many containers, unless it is told twice.
allow_root() {
  if [[ $(id -u) == 0 ]]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}
