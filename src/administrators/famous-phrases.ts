// Phrases that many people know by heart, so that guessers try them: pangrams, comics, films, songs, prayers, books, rows of words.

const PHRASES = `
correct horse battery staple
the quick brown fox jumps over the lazy dog
the five boxing wizards jump quickly
pack my box with five dozen liquor jugs
how vexingly quick daft zebras jump
sphinx of black quartz judge my vow
jackdaws love my big sphinx of quartz
lorem ipsum dolor sit amet consectetur adipiscing elit
all your base are belong to us
all work and no play makes jack a dull boy
never gonna give you up never gonna let you down
may the force be with you
luke i am your father
i am your father
a long time ago in a galaxy far far away
to boldly go where no man has gone before
live long and prosper
beam me up scotty
resistance is futile
one ring to rule them all one ring to find them
you shall not pass
my precious my precious
winter is coming
you know nothing jon snow
valar morghulis valar dohaeris
the truth is out there
i want to believe
i solemnly swear that i am up to no good
expecto patronum
to be or not to be that is the question
romeo romeo wherefore art thou romeo
it was the best of times it was the worst of times
call me ishmael
in the beginning god created the heaven and the earth
in the beginning was the word
our father who art in heaven hallowed be thy name
hail mary full of grace
the lord is my shepherd i shall not want
for god so loved the world
jesus is my lord and savior
god bless america
in god we trust
praise the lord
we the people of the united states
we hold these truths to be self evident
four score and seven years ago
i have a dream
ask not what your country can do for you
one small step for man one giant leap for mankind
houston we have a problem
elementary my dear watson
frankly my dear i do not give a damn
here is looking at you kid
play it again sam
i will be back
hasta la vista baby
say hello to my little friend
you talking to me
go ahead make my day
show me the money
i see dead people
there is no place like home
toto i have a feeling we are not in kansas anymore
life is like a box of chocolates
to infinity and beyond
hakuna matata
let it go let it go
supercalifragilisticexpialidocious
keep calm and carry on
hello darkness my old friend
is this the real life is this just fantasy
we will we will rock you
we are the champions my friends
stairway to heaven
smells like teen spirit
let it be let it be
all you need is love
yellow submarine
twinkle twinkle little star how i wonder what you are
mary had a little lamb
row row row your boat gently down the stream
happy birthday to you
jingle bells jingle bells
merry christmas and a happy new year
i love you to the moon and back
i love my mom and dad
i love you so much
i hate my job
let me in
open sesame
this is my password
this is a secure password
my password is password
my secret password
change me please change me now
do not forget this password
i forgot my password
password must be at least fifteen characters
incorrect password try again
nobody knows my password
one two three four five six seven eight nine ten
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
spring summer autumn winter
red orange yellow green blue indigo violet
alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november
i think therefore i am
carpe diem
veni vidi vici
the answer to life the universe and everything is forty two
so long and thanks for all the fish
do not panic
hello world
trust no one
big brother is watching you
war is peace freedom is slavery ignorance is strength
knowledge is power
time is money
money makes the world go round
no pain no gain
just do it
think different
easy as pie
an apple a day keeps the doctor away
early to bed and early to rise
a penny saved is a penny earned
practice makes perfect
better safe than sorry
where there is a will there is a way
the early bird catches the worm
zwölf boxkämpfer jagen viktor quer über den großen sylter deich
franz jagt im komplett verwahrlosten taxi quer durch bayern
portez ce vieux whisky au juge blond qui fume
liberte egalite fraternite
el veloz murcielago hindu comia feliz cardillo y kiwi
quel fez sghembo copre davanti
`;

/** Words in a row that are a phrase of their own. */
const WORDS_MINIMUM = 3;
const SEPARATORS = ['', ' ', '-', '_', '.', ','];

/** Returns each phrase and each run of three words and more in one, written together and with what people put between words. */
export function famousPhrases(): string[] {
  const found = new Set<string>();
  for (const phrase of PHRASES.trim().split('\n')) {
    const words = phrase.split(' ');
    for (let start = 0; start < words.length; start++)
      for (let end = words.length; end > start; end--)
        if (end - start >= Math.min(WORDS_MINIMUM, words.length))
          for (const separator of SEPARATORS) found.add(words.slice(start, end).join(separator));
  }
  return [...found];
}
