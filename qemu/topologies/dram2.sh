# shellcheck shell=bash disable=SC2034,SC2054
# SPDX-License-Identifier: Apache-2.0
#
# Two sockets with DRAM and nothing else.
#
#   node | memory          | CPUs | distance to 0, 1
#   -----+-----------------+------+-----------------
#   0    | DRAM, --memory  | 0    | 10 21
#   1    | DRAM, --memory  | 1    | 21 10
topology_arguments=(
  -smp 2,sockets=2 -m "$((2 * memory_mib))M,maxmem=$((2 * memory_mib + 8192))M,slots=4"
  -object "memory-backend-ram,id=dram0,size=${memory_mib}M"
  -object "memory-backend-ram,id=dram1,size=${memory_mib}M"
  -numa node,nodeid=0,memdev=dram0,cpus=0
  -numa node,nodeid=1,memdev=dram1,cpus=1
  -numa dist,src=0,dst=1,val=21
)
