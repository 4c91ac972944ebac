# SPDX-License-Identifier: GPL-2.0
# bash completion of unwind-tables

_unwind_tables()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "convert check serve status cache run --help" -- "$cur")
		return
	fi
	case ${COMP_WORDS[1]}:$prev:$cur in
	convert:-a:*)	;;
	convert:*:-*)	mapfile -t COMPREPLY < <(compgen -W "-a -e -o -r" -- "$cur") ;;
	serve:-d:*|cache:-d:*|run:-d:*)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		;;
	cache:*:-*)	mapfile -t COMPREPLY < <(compgen -W "-c -d -v" -- "$cur") ;;
	serve:*:-*|run:*:-*)
		mapfile -t COMPREPLY < <(compgen -W "-d -v" -- "$cur")
		;;
	convert:*|check:*|cache:*|run:*)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	esac
}
complete -F _unwind_tables unwind-tables
