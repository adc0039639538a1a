# Writers beside a measured read, or side by side on one pool. Put into the guest by zassay before a phase.
# perl writers KEY=VALUE...
#   dir out         where the files go, where the record goes
#   data keep own   the file or device whose first ``keep`` bytes are written again and again; own 1: each writer has a block of
#                   them to itself and writes no other, as ior's tasks have a buffer each
#   count files     how many writers, and how many files they have between them (as many: one each; 1: all share one)
#   block           bytes of one write
#   part stride     a writer's bytes in one piece, and from the start of one piece to that of its next
#   size            bytes of a writer's pieces in all; when they are written it begins anew
#   total           bytes of each writer before it ends by itself; 0: until it is told to (SIGTERM to the process group)
#   fsync rate      none, end (when its pieces are written) or each (after each write); bytes per second and writer, 0 = no limit
# The record has a line of each writer as it begins, then each tenth of a second in which a write ended, and as it ends:
#   WRITER UPTIME BYTES [begin|end|error TEXT]
use strict;
use warnings;
use Fcntl;
use IO::Handle;
use POSIX ();

my %o    = map { split /=/, $_, 2 } @ARGV;
my $BEAT = POSIX::sysconf(POSIX::_SC_CLK_TCK) / 10;
my $stop = 0;
$SIG{TERM} = sub { $stop = 1 };

sub uptime {
    open my $h, '<', '/proc/uptime' or die "/proc/uptime: $!";
    return ( split ' ', scalar <$h> )[0];
}

sub ticks { return ( POSIX::times() )[0] }

sub first_bytes {
    open my $h, '<:raw', $o{data} or die "$o{data}: $!";
    my $all = '';
    while ( length $all < $o{keep} ) {
        my $got = sysread $h, $all, $o{keep} - length $all, length $all;
        die "$o{data}: it has too few bytes\n" unless $got;
    }
    return $all;
}

# Where a writer's byte ``at`` lies in its file.
sub place {
    my ( $me, $at ) = @_;
    return int( $me / $o{files} ) * $o{part} + int( $at / $o{part} ) * $o{stride} + $at % $o{part};
}

sub writer {
    my ( $me, $data ) = @_;
    open my $record, '>>', $o{out} or die "$o{out}: $!";
    my $file = "$o{dir}/writers." . ( $me % $o{files} );
    sysopen my $h, $file, O_WRONLY | O_CREAT or die "$file: $!";
    my ( $moved, $at, $last ) = ( 0, 0, 0 );
    my $tell = sub { syswrite $record, join( ' ', $me, uptime(), $moved, @_ ) . "\n" };
    my $start = ticks();
    $tell->('begin');
    while ( !$stop && ( !$o{total} || $moved < $o{total} ) ) {
        sysseek $h, place( $me, $at ), 0 if $at % $o{part} == 0;
        my $got = syswrite $h, $data, $o{block}, $o{own} ? $me * $o{block} : $moved % ( $o{keep} - $o{block} + 1 );
        next if !defined $got && $!{EINTR};
        if ( !defined $got ) { $tell->( 'error', $! ); POSIX::_exit(1) }
        $moved += $got;
        $at = ( $at + $got ) % $o{size};
        $h->sync if $o{fsync} eq 'each' || ( $o{fsync} eq 'end' && $at == 0 );
        my $now = ticks();
        if ( $now - $last >= $BEAT ) { $tell->(); $last = $now }
        pause( $moved / $o{rate} - ( $now - $start ) / ( 10 * $BEAT ) ) if $o{rate};
    }
    $h->sync if $o{fsync} ne 'none' && $at != 0;
    $tell->('end');
    POSIX::_exit(0);
}

# In short sleeps, so that the end is not slept through.
sub pause {
    my ($ahead) = @_;
    while ( $ahead > 0 && !$stop ) {
        select undef, undef, undef, $ahead > 0.2 ? 0.2 : $ahead;
        $ahead -= 0.2;
    }
    return;
}

my $data = first_bytes();
my %open;
for my $me ( 0 .. $o{count} - 1 ) {
    my $pid = fork;
    die "fork: $!" unless defined $pid;
    writer( $me, $data ) unless $pid;
    $open{$pid} = 1;
}
my $bad = 0;
while (%open) {
    my $pid = waitpid -1, 0;
    next if $pid == -1 && $!{EINTR};
    last if $pid == -1;
    $bad = 1 if $?;
    delete $open{$pid};
}
exit $bad;
