"""`scan doctor`."""

COMMANDS = {
    "doctor": (
        "check the node, the database, compilers, disks and clocks",
        "scan.extensions.doctor.doctor_command",
    )
}
