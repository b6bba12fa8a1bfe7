# shellcheck shell=bash disable=SC2034,SC2054
# SPDX-License-Identifier: Apache-2.0
#
# Two sockets with DRAM, and one CXL Type 3 device with volatile memory behind a host bridge.
#
#   node | memory          | CPUs | distance to 0, 1, 2
#   -----+-----------------+------+--------------------
#   0    | DRAM, --memory  | 0    | 10 15 20
#   1    | DRAM, --memory  | 1    | 15 10 20
#   2    | CXL, 1 GiB      | none | 20 20 10
#
# Node 2 is in no ACPI table: the kernel makes it for the window and gives it the default distance
# of 20.  The remote socket stands at 15 so that the kernel falls back to it before it falls back to
# CXL memory.
topology_arguments=(
  -smp 2,sockets=2 -m "$((2 * memory_mib))M,maxmem=$((2 * memory_mib + 8192))M,slots=4"
  -object "memory-backend-ram,id=dram0,size=${memory_mib}M"
  -object "memory-backend-ram,id=dram1,size=${memory_mib}M"
  -numa node,nodeid=0,memdev=dram0,cpus=0
  -numa node,nodeid=1,memdev=dram1,cpus=1
  -numa dist,src=0,dst=1,val=15
  -object memory-backend-ram,id=cxl0,size=1G,share=on
  -device pxb-cxl,bus_nr=12,bus=pcie.0,id=cxl.1
  -device cxl-rp,port=0,bus=cxl.1,id=rp0,chassis=0,slot=2
  -device cxl-type3,bus=rp0,volatile-memdev=cxl0,id=cxl-vmem0,sn=0x1
  -M cxl-fmw.0.targets.0=cxl.1,cxl-fmw.0.size=4G
)
