# How much of a folder's files is in the page cache, asked of the kernel file by file (mincore), beside what they hold.
# perl resident FOLDER   Out: files, logical, allocated, resident as "key<TAB>number" lines; all but files in bytes.
use strict;
use warnings;
use POSIX ();

# Neither mmap nor mincore is a function of Perl's; their numbers differ between processors.
my %calls = ( x86_64 => [ 9, 27, 11 ], aarch64 => [ 222, 232, 215 ] );
my $machine = ( POSIX::uname() )[4];
my ( $mmap, $mincore, $munmap ) = @{ $calls{$machine} // die "no system calls known for $machine\n" };
my ( $PAGE, $READ, $SHARED ) = ( 4096, 1, 1 );
my %sum = map { $_ => 0 } qw(files logical allocated resident);

sub resident {
    my ( $path, $size ) = @_;
    return 0 if $size == 0;
    open my $h, '<', $path or die "$path: $!\n";
    my $at = syscall $mmap, 0, $size, $READ, $SHARED, fileno $h, 0;
    die "mmap $path: $!\n" if $at == -1;
    my $pages = "\0" x int( ( $size + $PAGE - 1 ) / $PAGE );
    die "mincore $path: $!\n" if syscall( $mincore, $at, $size, $pages ) == -1;
    syscall $munmap, $at, $size;
    return $PAGE * ( $pages =~ tr/\0//c );
}

my @open = @ARGV;
while ( defined( my $folder = shift @open ) ) {
    opendir my $dir, $folder or die "$folder: $!\n";
    for my $name ( grep { !/^\.{1,2}$/ } readdir $dir ) {
        my $path = "$folder/$name";
        next if -l $path;
        if ( -d _ ) { push @open, $path; next }
        next unless -f _;
        my ( $size, $blocks ) = ( stat _ )[ 7, 12 ];
        $sum{files}++;
        $sum{logical}   += $size;
        $sum{allocated} += 512 * $blocks;
        $sum{resident}  += resident( $path, $size );
    }
}
print map { "$_\t$sum{$_}\n" } sort keys %sum;
