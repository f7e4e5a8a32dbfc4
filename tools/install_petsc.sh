#!/usr/bin/env bash
# Make an environment with cotherm, mpi4py, petsc4py and slepc4py: tools/install_petsc.sh DIRECTORY
#
# petsc4py has no wheels. This takes Debian's PETSc and compiles petsc4py of the same version against it; the petsc4py
# that Debian builds needs NumPy 1. On another system, or with a PETSc of your own, set PETSC_DIR and SLEPC_DIR (and
# PETSC_ARCH, where yours has one): then no package is installed, and petsc4py and slepc4py of its version are compiled.
set -euo pipefail
where="$1"
python="${PYTHON:-python3}"
version=3.18
petsc4py=petsc4py==3.18.5
slepc4py=slepc4py==3.18.2

if [ -z "${PETSC_DIR:-}" ]; then
  packages="libpetsc-real$version-dev libslepc-real$version-dev openmpi-bin"
  # shellcheck disable=SC2086 # a list of packages
  if ! dpkg -s $packages >/dev/null 2>&1; then
    command -v apt-get >/dev/null || { echo "This needs Debian's packages, or a PETSc of yours in PETSC_DIR and SLEPC_DIR." >&2; exit 1; }
    if [ "$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi
    echo "Installing $packages ..."
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $packages >/dev/null
  fi
  # The package ends the name of its directory with the kind of machine.
  PETSC_DIR=$(echo /usr/lib/petscdir/petsc$version/*-real)
  SLEPC_DIR=$(echo /usr/lib/slepcdir/slepc$version/*-real)
else
  read_version() { awk -v name="$2" '$1 == "#define" && $2 == name {print $3}' "$PETSC_DIR/include/petscversion.h"; }
  version="$(read_version . PETSC_VERSION_MAJOR).$(read_version . PETSC_VERSION_MINOR)"
  petsc4py="petsc4py==$version.*" slepc4py="slepc4py==$version.*"
fi
export PETSC_DIR SLEPC_DIR

[ -x "$where/bin/python" ] || "$python" -m venv "$where"
pip="$where/bin/python -m pip --quiet --disable-pip-version-check"
echo "Installing cotherm and mpi4py into $where ..."
# mpi4py is compiled as well: its wheels bring no MPI, and petsc4py must see the same one as PETSc.
$pip install pip -e . pytest hypothesis
$pip install --no-binary mpi4py 'mpi4py>=4.0'
if ! "$where/bin/python" -c "import petsc4py, slepc4py" 2>/dev/null; then
  echo "Compiling petsc4py and slepc4py, some minutes ..."
  $pip install 'cython<3' 'setuptools<70' wheel # what petsc4py 3.18 is built with
  # The wrappers spend their time in PETSc: to optimize them takes most of the compiler's time and brings nothing.
  export CFLAGS="${CFLAGS:--O1 -w}"
  $pip install --no-build-isolation --no-deps "$petsc4py"
  $pip install --no-build-isolation --no-deps "$slepc4py"
fi
"$where/bin/python" -c "import petsc4py, slepc4py, mpi4py"
