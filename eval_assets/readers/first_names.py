"""First names: what tells a column of a rater from one of a criterion that any word may name."""

_NAMES = """
aarav aaron abby abdul abigail ada adam adele adrian agata agnes ahmed aisha akira alain alan
albert alex alexander alexandra alexis alfred ali alice alicia alina aline alison allison alma
amanda amara amber amelia amelie amir amit amy ana anais anders andre andrea andreas andrei
andrew andy angel angela anika anil anita anja anjali ann anna annabel anne annette annie anton
antonia antonio anya aria ariel arjun arne arthur arun asha ashley astrid ava avi axel ayla ayse
barbara bea beata beatrice ben bence benedikt benjamin bernd bert beth bettina bianca bill
birgit bjorn bo bob boris brad brandon brian britta bruno caleb cameron camila camille carl
carla carlos carmen carol carolina caroline catherine cecilia celine chantal charles charlie
charlotte chen chiara chidi chloe chris christian christina christine christoph christopher
claire clara clare clemens cleo colin connor corinna craig cristina cynthia daan dan dana daniel
daniela danielle darius dave david dawn deborah debra deepa deepak denis dennis diana diego
dieter dimitri dirk dmitri dominic dominik dora doris dorothy doug dylan eduardo edward eileen
elena eli elias elif elin elisa elisabeth elise elizabeth ella ellen elsa emil emilia emilie
emily emir emma emre enrique eric erica erik erika erin ernesto esther ethan eugene eva evan eve
evelyn ewa fabian fatima fatoumata federico felipe felix fernando finn fiona florian frances
francesca francesco francisco francois frank franz fred frederik frida fritz gabriel gabriela
gabriele gary georg george gerald gerd gina giorgos giovanni giulia gloria grace greg greta
guido gunter gunther gustav guy hana hanna hannah hans harald harry haruto harvey hassan heather
hector heidi heike helen helena helga henri henrik henry hiro hiroshi holger hugo huong ian
ibrahim ida igor ilinca ilona ilse ines inga ingrid ioana ioannis irene irina iris isaac isabel
isabella isabelle istvan itai ivan jack jacob jake jakob jakub james jamie jan jana jane janet
jasmin jasmine jason javier jay jean jeff jen jenna jennifer jenny jens jeremy jesse jessica
jesus jihoon jill jim jin jing joan joana joanna joao joe joel joerg johan johanna johannes john
jon jonas jonathan jordan jorg jorge jose josef joseph josh joshua jovan joy joyce juan judith
judy jules julia julian juliane julie julien jun jurgen justin kai karen karim karin karl
karolina kasia kate katharina katherine kathrin kathy katie katja katrin kavya keith kelly ken
kenji kevin khalid kim kirsten klaus konrad kristen kristin kumar kurt kwame kyle lakshmi lara
larry lars laszlo laura lauren laurent lea leah lee leila lena leo leon leonard leonie leticia
lewis li liam lien lily lina linda ling linh lisa liu liz logan loic lola lorenzo lou louis
louisa louise luc luca lucas lucia lucie lucy luis luisa lukas lukasz luke luna lydia lynn mads
magdalena maggie malik malte manuel manuela marc marcel marco marcus marek margaret maria mariam
marie marina mario marion marisa mark markus marta martha martin martina mary mateo mathilde
matt matteo matthew matthias max maximilian maya mehmet mei melanie melissa mia michael michel
michelle miguel mihai mikael mike mila milan milica mina ming minh minjun miriam mohamed
mohammed moira molly mona monica monika moritz nadia nadine naomi natalia natalie natasha nathan
neha neil nele nguyen nicholas nick nico nicola nicolas nicole niklas nikos nils nina noa noah
noel nora nuria olaf oleg olga oliver olivia oluwaseun omar omer oscar oskar otto pablo pam
paola pascal patricia patrick paul paula paulina pavel pawel pedro peggy penny per peter petra
phil philip philipp pia pierre piotr pooja priya priyanka quentin rachel rafael rahul raj ralf
ralph ramon raphael ravi ray rebecca renate rene ricardo richard rick rita rob robert roberto
robin rohan rohit roland roman ron ronit rosa rose ross roy ruben ruth ryan sabine sabrina
sakura sally sam samantha samir samuel sandra sandy sanjay sara sarah sasha saskia satoshi scott
sean sebastian selma seojun sergei shannon sharon shawn sheila shreya silke silvia simon simone
sofia sofie sofija sonia sonja sophia sophie soyeon stefan stefanie stella stephan stephanie
stephen steve steven sue sunil susan susanne suzanne sven sylvia takashi tamara tania tanja tara
tariq tatiana ted teresa thabo theo theresa thomas tiago tim timo tina tobias todd tom tomas
tomasz tony tracy ulrich ulrike ursula uwe valentin valentina valeria vanessa vera veronica
veronika victor victoria vikram viktor vincent vivian wang wei wendy werner wiebke will william
wojciech wolfgang xavier xin yael yan yann yara yasmin yolanda yui yuki yun yusuf yvonne zara
zoe zofia zoltan zuzana
"""

FIRST_NAMES = frozenset(_NAMES.split())
"""In lower case and without accents."""
