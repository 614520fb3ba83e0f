// Package hostconf reads and writes the host side of a RoCE fabric: the settings of NICs and of NCCL.
//
// [Parse] reads scripts with mlnx_qos, cma_roce_tos, dcb, lldptool, nicctl, niccli and bnxt_setupcc.sh, writes to
// /sys, NCCL's variables, systemd units, udev rules and manifests, and the output of these tools. Scripts are
// followed by the shell of package jobscript and never run. The result is a swconf.Host, each value with its place;
// everything unrecognized is listed. [Write] is the reverse. params.go is the one table between the registers of
// NICs and the parameters of DCQCN in package cc.
package hostconf
