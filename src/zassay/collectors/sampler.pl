# Samples files of a guest at a fixed interval until it is ended. Put into the guest by zassay before a run.
# perl sampler INTERVAL_S OUT SPEC...   SPEC: file:PATH | glob:PATTERN | head:LINES:PATH | threads:NAME,NAME
# Out: "# UPTIME\n", then for each spec "= SPEC LENGTH\n<text>\n".
use strict;
use warnings;

my ( $interval, $out, @specs ) = @ARGV;
open my $sink, '>', $out or die "$out: $!";
my $old = select $sink;
$| = 1;
select $old;

sub first_lines {
    my ( $path, $limit ) = @_;
    open my $h, '<', $path or return '';
    my $text = '';
    while ( my $line = <$h> ) {
        $text .= $line;
        last if defined $limit && --$limit <= 0;
    }
    return $text;
}

# Kernel threads come and go, so they are counted anew each time; a thread keeps its name, so each is asked only once.
my %name_of;

sub count_threads {
    my %seen = map { $_ => 0 } split /,/, shift;
    opendir my $dir, '/proc' or return '';
    my %now = map { $_ => $name_of{$_} // name_of($_) } grep { /^\d+$/ } readdir $dir;
    %name_of = %now;
    for my $name ( values %now ) { $seen{$name}++ if exists $seen{$name} }
    return join '', map { "$_ $seen{$_}\n" } sort keys %seen;
}

sub name_of {
    my ($pid) = @_;
    open my $h, '<', "/proc/$pid/comm" or return '';
    my $name = <$h> // '';
    chomp $name;
    return $name;
}

sub take {
    my ($spec) = @_;
    return first_lines($1)       if $spec =~ /^file:(.*)$/;
    return join '', map { first_lines($_) } glob $1 if $spec =~ /^glob:(.*)$/;
    return first_lines( $2, $1 ) if $spec =~ /^head:(\d+):(.*)$/;
    return count_threads($1)     if $spec =~ /^threads:(.*)$/;
    die "unknown spec $spec";
}

while (1) {
    my $text = '# ' . ( split ' ', first_lines( '/proc/uptime', 1 ) )[0] . "\n";
    for my $spec (@specs) {
        my $part = take($spec);
        $text .= "= $spec " . length($part) . "\n$part\n";
    }
    print {$sink} $text;
    select undef, undef, undef, $interval;
}
