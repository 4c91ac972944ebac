# SPDX-License-Identifier: GPL-2.0
# Work for the interpreter: hashes, regular expressions, sorting; prints a sum of all of it
use strict;
use warnings;

sub words
{
	my ($seed) = @_;
	return map { sprintf('%d:%x', $_ * $seed % 1009, $_) } 1 .. 200;
}

sub turn
{
	my ($seed) = @_;
	my %count;

	for my $word (words($seed)) {
		$count{$1}++ if $word =~ /^(\d+):[0-9a-f]*[13579bdf]$/;
	}
	my @keys = sort { $count{$a} <=> $count{$b} || $a <=> $b } keys %count;
	return length(join(',', @keys));
}

my $sum = 0;
$sum += turn($_) for 1 .. $ARGV[0];
print "$sum\n";
