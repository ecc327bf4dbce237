# Perl's usual life: hashes of hashes, strings, regular expressions, sorting. argv[0]: rounds.
use strict;
use warnings;
my $result = 0;
for my $round (1 .. (shift // 10)) {
    my %by_letter;
    for my $i (1 .. 3000) {
        my $word = join '', map { chr(97 + $i * $_ * $round % 26) } 1 .. 6;
        $by_letter{substr $word, 0, 1}{$word} .= "<$i>";
    }
    for my $letter (sort keys %by_letter) {
        my @words = sort { length $by_letter{$letter}{$a} <=> length $by_letter{$letter}{$b} || $a cmp $b }
            keys %{$by_letter{$letter}};
        my $text = join ',', map { "$_=$by_letter{$letter}{$_}" } @words;
        $result += () = $text =~ /<\d+>/g;
    }
}
print "$result\n";
